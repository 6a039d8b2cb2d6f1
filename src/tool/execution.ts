import { CancelledError, CleanupError, DeadlineExceededError, McpToolsetError, ToolError } from '../errors';
import type { CallOutcome } from '../errors';
import type { Artifact } from './artifact';
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
  readonly artifacts: readonly Artifact[];
  /** Why the call failed: the original error. */
  readonly error?: unknown;
}

/** What is shown and returned for a failed call instead of the error alone. */
interface FailureReport {
  readonly content?: string;
  readonly value?: unknown;
  readonly artifacts?: readonly Artifact[];
}

const reports = new WeakMap<Error, FailureReport>();

/** Gives an error the content, value or artifacts that its execution is to have. */
export function withReport<T extends Error>(error: T, report: FailureReport): T {
  reports.set(error, report);
  return error;
}

/**
 * The execution of a call that returned.
 * @throws ToolError, whose execution keeps value and artifacts, when the value cannot be shown
 */
export function succeeded(returned: unknown): ToolExecution {
  const { value, artifacts } = ToolResult.of(returned);
  try {
    return Object.freeze({ status: 'success', value, content: contentOf(value), artifacts });
  } catch (error) {
    throw ToolError.is(error) ? withReport(error, { content: error.message, value, artifacts }) : error;
  }
}

/** The execution of a call that threw `error`; throws it again where it ended the run or is a failure to clean up. */
export function failed(error: unknown): ToolExecution {
  if (CancelledError.is(error) || DeadlineExceededError.is(error) || CleanupError.is(error)) throw error;
  const report = error instanceof Error ? reports.get(error) : undefined;
  const content = report?.content ?? failureContent(error);
  return Object.freeze({ status: 'error', value: report?.value, content, artifacts: report?.artifacts ?? [], error });
}

const OUTCOMES: Readonly<Record<CallOutcome, string>> = {
  'not-sent': ' The call was not sent, so it can safely be made again.',
  refused: ' The server refused the call without carrying it out.',
  completed: ' The server carried the call out.',
  unknown: ' It is not known whether the server carried the call out; find out before making it again.',
};

function failureContent(error: unknown): string {
  if (ToolError.is(error) && error.message !== '') return error.message.toWellFormed();
  const outcome = McpToolsetError.is(error) ? error.outcome : undefined;
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
  try {
    const { name, constructor } = error as { name?: unknown; constructor?: { name?: unknown } };
    const names =
      typeof name === 'string' && !BUILT_IN.has(name) ? [name, constructor?.name] : [constructor?.name, name];
    return names.find((candidate) => typeof candidate === 'string' && candidate !== '')?.toString() ?? 'Error';
  } catch {
    return 'Error'; // a getter or a proxy may throw
  }
}

/** An error execution whose content is `message`, which is meant for the model. */
export function rejected(message: string): ToolExecution {
  return failed(new ToolError(message));
}
