import { Interruption } from '../../run/abort';
import type { ToolRegistry } from '../../registry/tool-registry';
import { rejected, type ToolExecution } from '../../tool/execution';
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

/** How the calls of one turn are carried out. */
export interface AnswerOptions {
  readonly signal?: AbortSignal | undefined;
  /** What a tool is given for the arguments that the model wrote, where its schema was presented in another form. */
  readonly restore?: ((name: string, input: unknown) => unknown) | undefined;
}

/**
 * Carries out the calls of one turn, in parallel where their tools allow it, and returns their executions in the order of
 * the calls. Arguments that cannot be read, calls that were cut off and unknown names are error executions. When the
 * first call throws, the others are cancelled, and nothing is left under way.
 * @throws CancelledError, DeadlineExceededError, CleanupError, or ConfigurationError for a closed registry
 */
export async function answerCalls(
  registry: ToolRegistry,
  calls: readonly ModelCall[],
  { signal, restore }: AnswerOptions = {},
): Promise<readonly ToolExecution[]> {
  registry.binding.run?.check();
  const turn = new Interruption(signal ? [signal] : []);
  const failures: unknown[] = [];
  const answered = async (call: ModelCall): Promise<ToolExecution[]> => {
    try {
      return [await answer(registry, call, { signal: turn.signal, restore })];
    } catch (error) {
      failures.push(error);
      turn.end(error);
      return [];
    }
  };
  try {
    const executions = await Promise.all(calls.map(answered));
    if (failures.length > 0) throw failures[0];
    return executions.flat();
  } finally {
    turn.release();
  }
}

/**
 * Carries out one call.
 * @throws what `answerCalls` throws
 */
export async function answer(
  registry: ToolRegistry,
  { id, name, input: given, isCutOff }: ModelCall,
  { signal, restore }: AnswerOptions = {},
): Promise<ToolExecution> {
  registry.binding.run?.check();
  if (!registry.has(name)) return registry.execute({ id, name }, { signal });
  if (isCutOff) return rejected('The call was cut off before its arguments were complete, so it was not carried out.');
  const read = modelInput(given);
  if ('fault' in read) return rejected(`Invalid tool input: ${read.fault}`);
  const input = restore ? restore(name, read.input) : read.input;
  return registry.execute({ id, name, input }, { signal });
}
