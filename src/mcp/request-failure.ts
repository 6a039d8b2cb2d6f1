import { traitOf } from '../errors';

/** How a request to a server failed, as far as the wire showed it. */
export type RequestFailureDetails =
  /** The server replied with a JSON-RPC error. */
  | { readonly kind: 'reply'; readonly code: number; readonly message: string; readonly data?: unknown }
  /** The request was answered with an HTTP error. */
  | { readonly kind: 'http'; readonly status: number; readonly body: string; readonly cause?: unknown }
  /** The request was answered with this HTTP status, for an authorization that only the user can give. */
  | { readonly kind: 'authorization'; readonly status: number; readonly url: URL }
  /** The request cannot be sent, because of what is in it. */
  | { readonly kind: 'unsendable'; readonly message: string; readonly cause?: unknown }
  /** The request never left; `isOver` where the session had ended before. */
  | {
      readonly kind: 'unsent';
      readonly message: string;
      readonly cause?: unknown;
      readonly isOfCredentials?: true;
      readonly isOver?: true;
    }
  /** The connection ended before the reply came. */
  | { readonly kind: 'closed'; readonly message: string; readonly cause?: unknown }
  /** The answer could not be read as a reply. */
  | { readonly kind: 'unreadable'; readonly message: string; readonly cause?: unknown }
  /** What the server sent is over a limit of the application's. */
  | { readonly kind: 'limit'; readonly message: string }
  /** The client refuses the request, because the server did not announce the capability. */
  | { readonly kind: 'unsupported'; readonly message: string };

/** What is told apart from all that may be thrown, proxies that do not let themselves be looked at included. */
class Internal extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    try {
      return super[Symbol.hasInstance](value);
    } catch {
      return false;
    }
  }
}

/** A request failed for a reason that lies with the server or the way to it. Never leaves `src/mcp`. */
export class RequestFailure extends Internal {
  constructor(readonly details: RequestFailureDetails) {
    super(details.kind);
    this.name = 'RequestFailure';
  }
}

/** Carries what an application's callback threw past the code that translates failures. Never leaves `src/mcp`. */
export class CallbackFailure extends Internal {
  constructor(readonly thrown: unknown) {
    super('callback failure');
    this.name = 'CallbackFailure';
  }
}

/** Runs an application's callback; what it throws is carried as a `CallbackFailure`. */
export async function callback<T>(call: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await call();
  } catch (thrown) {
    throw new CallbackFailure(thrown);
  }
}

/** What is to be thrown to the application: the callback's own error where it was one. */
export function uncarried(error: unknown): unknown {
  return error instanceof CallbackFailure ? error.thrown : error;
}

/** Names of the errors that parsing and checking an answer ends with; zod's two builds differ. */
const UNREADABLE = new Set<unknown>(['ZodError', '$ZodError', 'SyntaxError']);

/** Whether an error is about something that was received and is no message of the protocol. */
export function isMisreading(error: unknown): boolean {
  return UNREADABLE.has(traitOf(error, 'name'));
}
