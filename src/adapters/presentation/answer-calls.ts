import { Interruption } from '../../run/abort';
import type { ToolRegistry } from '../../registry/tool-registry';
import { rejected, type ToolExecution } from '../../tool/execution';
import { tellExecution } from './executed';
import type { PresentationOptions } from './limits';
import { modelInput } from './model-input';

/** A call as a provider hands it over. */
export interface ModelCall {
  readonly id: string;
  readonly name: string;
  /** The arguments: a value, or its JSON; nothing or an empty text stands for none. */
  readonly input: unknown;
  /** Whether the model was cut off while it wrote the call. */
  readonly isCutOff?: boolean | undefined;
}

/** A call that was answered. */
export interface AnsweredCall {
  readonly call: ModelCall;
  readonly execution: ToolExecution;
}

/** How the calls of one turn are carried out. */
export interface AnswerOptions extends Pick<PresentationOptions, 'signal' | 'onExecution'> {
  /** What a tool is given for the arguments that the model wrote, where its schema was presented in another form. */
  readonly restore?: ((name: string, input: unknown) => unknown) | undefined;
}

/**
 * Carries out the calls of one turn, in parallel where their tools allow it, and returns them with their executions, in
 * their order. Arguments that cannot be read, calls that were cut off and unknown names are error executions. When the
 * first call throws, the others are cancelled, and nothing is left under way.
 * @throws CancelledError, DeadlineExceededError, CleanupError, or ConfigurationError for a closed registry
 */
export async function answerCalls(
  registry: ToolRegistry,
  calls: readonly ModelCall[],
  { signal, ...others }: AnswerOptions = {},
): Promise<readonly AnsweredCall[]> {
  registry.binding.run?.check();
  const turn = new Interruption(signal ? [signal] : []);
  const failures: unknown[] = [];
  const answered = async (call: ModelCall): Promise<AnsweredCall[]> => {
    try {
      return [await answer(registry, call, { ...others, signal: turn.signal })];
    } catch (error) {
      failures.push(error);
      turn.end(error);
      return [];
    }
  };
  try {
    const all = await Promise.all(calls.map(answered));
    if (failures.length > 0) throw failures[0];
    return all.flat();
  } finally {
    turn.release();
  }
}

/**
 * Carries out one call, and tells the application of it.
 * @throws what `answerCalls` throws
 */
export async function answer(
  registry: ToolRegistry,
  call: ModelCall,
  { signal, restore, onExecution }: AnswerOptions = {},
): Promise<AnsweredCall> {
  registry.binding.run?.check();
  const { id, name, input: given, isCutOff } = call;
  const read = modelInput(given);
  const written = 'fault' in read ? given : read.input;
  const input = restore && !('fault' in read) ? restore(name, written) : written;
  const carryOut = (): ToolExecution | Promise<ToolExecution> => {
    if (!registry.has(name)) return registry.execute({ id, name }, { signal });
    if (isCutOff)
      return rejected('The call was cut off before its arguments were complete, so it was not carried out.');
    if ('fault' in read) return rejected(`Invalid tool input: ${read.fault}`);
    return registry.execute({ id, name, input }, { signal });
  };
  const execution = await carryOut();
  if (onExecution) {
    await tellExecution(onExecution, { call: { id, name, input }, execution, binding: registry.binding, signal });
  }
  return { call, execution };
}
