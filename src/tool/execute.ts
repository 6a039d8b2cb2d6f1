import { untilAborted } from '../run/abort';
import { interrupted, interruption } from '../run/interruption';
import { callContext, endingOf, type ToolCallContext } from './call-context';
import { failed, keptOf, rejected, succeeded, type ToolExecution } from './execution';
import type { ToolBinding } from './tool-binding';

/** The input of a call. */
export type ToolInput = Record<string, unknown>;

/** One call and what carries it out. */
export interface Callee {
  readonly input: unknown;
  readonly binding: ToolBinding;
  readonly callId: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** What is wrong with an input. Default: nothing. */
  readonly faultOf?: (input: ToolInput) => string | undefined;
  readonly call: (input: ToolInput, context: ToolCallContext) => unknown;
}

/**
 * Carries a call out and tells how it went; input that is null or undefined is `{}`.
 * @throws CancelledError, DeadlineExceededError or CleanupError; every other failure becomes an error execution
 */
export async function execute({ input, binding, callId, signal, faultOf, call }: Callee): Promise<ToolExecution> {
  binding.run?.check();
  const given = (input ?? {}) as ToolInput;
  const fault = kindFault(given) ?? faultOf?.(given);
  if (fault !== undefined) return rejected(`Invalid tool input: ${fault}`);
  const ending = interruption(binding.run, signal);
  const context = callContext({ binding, callId, ending });
  try {
    return succeeded(await untilAborted(begun(call, given, context), ending));
  } catch (error) {
    return failed(ending.aborted ? interrupted(ending) : error, keptOf(context));
  } finally {
    ending.release();
  }
}

function kindFault(input: unknown): string | undefined {
  if (typeof input === 'object' && !Array.isArray(input)) return undefined;
  return `expected an object, got ${Array.isArray(input) ? 'an array' : `a ${typeof input}`}.`;
}

async function begun(call: Callee['call'], input: ToolInput, context: ToolCallContext): Promise<unknown> {
  endingOf(context).throwIfAborted();
  return call(input, context);
}
