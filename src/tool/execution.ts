import { CancelledError, CleanupError, DeadlineExceededError, McpToolsetError, ToolError, traitOf } from '../errors';
import type { CallOutcome } from '../errors';
import type { AnyArtifact } from './artifact';
import { contentOf } from './content';
import { ToolResult } from './tool-result';

/** The outcome of one tool call. */
export interface ToolExecution {
  readonly status: 'success' | 'error';
  /** What the tool returned, for the application; undefined for an error without a result. */
  readonly value: unknown;
  /** What the model is shown. */
  readonly content: string;
  /** Bytes that the tool produced beside its text. */
  readonly artifacts: readonly AnyArtifact[];
  /** Why the call failed: the original error. */
  readonly error?: unknown;
}

/**
 * What a call has come to, whether or not something fails afterwards. It is kept by call and not by error: an application
 * may throw one error object in many calls, also of different users.
 */
export interface Kept {
  readonly value: unknown;
  readonly artifacts: readonly AnyArtifact[];
  /** What the model is shown if it is this error that ends the call. */
  readonly failure?: { readonly error: unknown; readonly content: string };
}

/** The execution of a call that returned; a value that cannot be shown makes it a failed one, which keeps the value. */
export function succeeded(returned: unknown): ToolExecution {
  const result = ToolResult.of(returned);
  const { value, artifacts } = result;
  try {
    return Object.freeze({ status: 'success', value, content: contentOf(value), artifacts });
  } catch (error) {
    return failed(error, result);
  }
}

/** The execution of a call that threw `error`; throws it again where it ended the run or is a failure to clean up. */
export function failed(error: unknown, result?: Kept): ToolExecution {
  if (CancelledError.is(error) || DeadlineExceededError.is(error) || CleanupError.is(error)) throw error;
  const { value, artifacts = [], failure } = result ?? {};
  const content = failure && failure.error === error ? failure.content : failureContent(error, result !== undefined);
  return Object.freeze({ status: 'error', value, content, artifacts, error });
}

const OUTCOMES: Readonly<Record<CallOutcome, string>> = {
  'not-sent': ' The call was not sent.',
  refused: ' The server refused the call without carrying it out.',
  completed: ' The server carried the call out.',
  unknown: ' It is not known whether the server carried the call out; find out before making it again.',
};

function failureContent(error: unknown, wasAnswered: boolean): string {
  if (ToolError.is(error) && error.message !== '') return error.message.toWellFormed();
  // An error that comes after the answer, as from a callback, may be about another call.
  const outcome = McpToolsetError.is(error) && !wasAnswered ? error.outcome : undefined;
  return `Tool failed (${classNameOf(error)})${outcome ? `.${OUTCOMES[outcome]}` : ''}`;
}

const BUILT_IN = new Set([
  'Error',
  'EvalError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'TypeError',
  'URIError',
]);

/** The name that an error has, or else that of its class; a subclass without a name of its own has a built-in's. */
function classNameOf(error: unknown): string {
  if (error === null) return 'null';
  if (typeof error !== 'object') return typeof error;
  const name = traitOf(error, 'name');
  const className = traitOf(traitOf(error, 'constructor'), 'name');
  const names = typeof name === 'string' && !BUILT_IN.has(name) ? [name, className] : [className, name];
  return names.find((candidate): candidate is string => typeof candidate === 'string' && candidate !== '') ?? 'Error';
}

/** An error execution whose content is `message`, which is meant for the model. */
export function rejected(message: string): ToolExecution {
  return failed(new ToolError(message));
}
