import { interrupted, interruption } from '../run/interruption';
import type { Call } from './call-context';
import { failed, rejected, succeeded, type ToolExecution } from './execution';
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
  /** Does the work, and settles when the call ends early. */
  readonly carryOut: (input: ToolInput, call: Call) => unknown;
}

/**
 * Carries a call out and tells how it went; input that is null or undefined is `{}`.
 * @throws CancelledError, DeadlineExceededError or CleanupError; every other failure becomes an error execution
 */
export async function execute({ input, binding, callId, signal, faultOf, carryOut }: Callee): Promise<ToolExecution> {
  binding.run?.check();
  const given = (input ?? {}) as ToolInput;
  const fault = kindFault(given) ?? faultOf?.(given);
  if (fault !== undefined) return rejected(`Invalid tool input: ${fault}`);
  const ending = interruption(binding.run, signal);
  const call: Call = { binding, callId, ending, kept: undefined };
  try {
    ending.throwIfAborted();
    const returned = await carryOut(given, call);
    ending.throwIfAborted();
    return succeeded(returned);
  } catch (error) {
    return failed(ending.aborted ? interrupted(ending) : error, call.kept);
  } finally {
    ending.release();
  }
}

function kindFault(input: unknown): string | undefined {
  if (typeof input === 'object' && !Array.isArray(input)) return undefined;
  return `expected an object, got ${Array.isArray(input) ? 'an array' : `a ${typeof input}`}.`;
}
