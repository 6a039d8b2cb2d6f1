import { messageOf } from '../../errors';
import { untilAborted } from '../../run/abort';
import { interruption } from '../../run/interruption';
import { settingsOf } from '../../settings';
import type { ToolExecution } from '../../tool/execution';
import type { ToolBinding } from '../../tool/tool-binding';

/** A call that a model made, as `onExecution` is told of it. */
export interface ExecutedCall {
  /** The id that the model gave it. */
  readonly id: string;
  readonly name: string;
  /** What the tool was given; where that could not be read, what the model wrote. */
  readonly input: unknown;
}

/** Is told of each call that was answered. */
export type OnExecution = (call: ExecutedCall, execution: ToolExecution) => void | PromiseLike<void>;

/** Of what an `OnExecution` is told, and how long it is waited for. */
interface Told {
  readonly call: ExecutedCall;
  readonly execution: ToolExecution;
  readonly binding: ToolBinding;
  readonly signal: AbortSignal | undefined;
}

/**
 * Tells the application of a call. What goes wrong there is an error in the log: the model is answered all the same.
 * @throws CancelledError or DeadlineExceededError where run or turn end meanwhile
 */
export async function tellExecution(
  onExecution: OnExecution,
  { call, execution, binding, signal }: Told,
): Promise<void> {
  const ending = interruption(binding.run, signal);
  try {
    await untilAborted((async () => onExecution(call, execution))(), ending);
  } catch (error) {
    ending.throwIfAborted();
    const { logger } = settingsOf(binding.container);
    logger.error(`onExecution failed for a call of ${call.name}: ${messageOf(error)}`, error);
  } finally {
    ending.release();
  }
}
