import {
  AuthorizationRequiredError,
  ProtocolError,
  ProviderError,
  ToolError,
  traitOf,
  type CallOutcome,
  type McpToolsetError,
} from '../errors';
import type { Link } from './link';
import type { RequestFailureDetails } from './request-failure';
import { quoted } from './quoted';

const EXCERPT_LENGTH = 200;

const AUTHORIZATION_REQUIRED =
  'the server requires an authorization by the user: send the user to the authorizationUrl of this error, then call ' +
  'completeAuthorization().';

/** What a request was for, as errors name it. */
export interface RequestSubject {
  readonly toolset: string;
  readonly method: string;
  /** The server's own name of the tool that is called. */
  readonly tool?: string | undefined;
  /** Where it is not the call itself: whether it goes before it, or follows it because the server has taken it. */
  readonly phase?: 'before' | 'after';
}

/** The outcome of a call that ends with a request whose own outcome this is; none for what is no call. */
export function outcomeOf({ tool, phase }: RequestSubject, outcome: CallOutcome): CallOutcome | undefined {
  if (phase === 'before') return 'not-sent';
  if (tool === undefined) return undefined;
  return phase === 'after' ? 'unknown' : outcome;
}

const aboutCredentials = new WeakSet<object>();

/** Whether a request failed for what its own user, and no other, may do or has to do. */
export function isAboutCredentials(error: Error): boolean {
  const known: readonly unknown[] = [error, error.cause];
  return AuthorizationRequiredError.is(error) || known.some((one) => aboutCredentials.has(Object(one) as object));
}

/** The error that an application is given for a request that failed. */
export function translated(details: RequestFailureDetails, subject: RequestSubject, link: Link): McpToolsetError {
  const error = errorFor(details, subject, link);
  if (refusesCredentials(details)) aboutCredentials.add(error);
  return error;
}

function refusesCredentials(details: RequestFailureDetails): boolean {
  if (details.kind === 'http') return details.status === 401 || details.status === 403;
  if (details.kind === 'unsent' && details.isOfCredentials) return true;
  // The SDK's own transport says it by the class of its error.
  const { cause } = details as { cause?: unknown };
  return traitOf(traitOf(cause, 'constructor'), 'name') === 'UnauthorizedError';
}

function errorFor(details: RequestFailureDetails, subject: RequestSubject, link: Link): McpToolsetError {
  const { toolset } = subject;
  const where = describe(subject);
  const options = (outcome: CallOutcome): object => ({ toolset, outcome: outcomeOf(subject, outcome) });
  switch (details.kind) {
    case 'reply':
      return replyError(details, subject, link);
    case 'http':
      return new ProviderError(`${where}: ${httpMessage(details, link)}`, {
        ...options(httpOutcome(details.status)),
        cause: jsonRpcError(details.body, link) ?? details.cause,
      });
    case 'authorization':
      return new AuthorizationRequiredError(`${where}: ${AUTHORIZATION_REQUIRED}`, {
        ...options('refused'),
        authorizationUrl: details.url,
      });
    case 'unsendable':
      return new ToolError(`Invalid tool input: ${details.message}.`, { toolset, cause: details.cause });
    case 'unsent':
      return new ProviderError(unsentMessage(where, details, link), { ...options('not-sent'), cause: details.cause });
    case 'closed':
      return new ProviderError(`${where}: ${link.redact(details.message)}.`, {
        ...options('unknown'),
        cause: details.cause,
      });
    case 'unreadable':
      return new ProtocolError(`${where}: the server's answer cannot be read: ${excerpt(details.message, link)}.`, {
        ...options('unknown'),
        cause: details.cause,
      });
    case 'limit':
      return new ProtocolError(`${where}: ${details.message}.`, options('unknown'));
    case 'unsupported':
      return new ProviderError(`${where}: ${details.message}.`, { ...options('not-sent'), cause: { code: -32601 } });
  }
}

function unsentMessage(
  where: string,
  { message, isOver = false }: { message: string; isOver?: boolean },
  link: Link,
): string {
  if (isOver) return `${where}: the session is closed: ${link.redact(message)}. A new run has a new one.`;
  return `${where}: the server cannot be reached: ${link.redact(message)}. Check that it runs and how it is addressed.`;
}

function replyError(
  details: Extract<RequestFailureDetails, { kind: 'reply' }>,
  subject: RequestSubject,
  link: Link,
): McpToolsetError {
  const { toolset } = subject;
  const cause = said(details, link);
  if (subject.tool !== undefined && subject.method !== 'tasks/get') {
    const message = cause.message || `The server answered with error ${details.code} and no message.`;
    return new ToolError(message, { toolset, cause });
  }
  return new ProviderError(
    `${describe(subject)}: the server answered with error ${details.code}: ${cut(cause.message)}`,
    { toolset, cause, outcome: outcomeOf(subject, 'unknown') },
  );
}

interface JsonRpcError {
  readonly code?: unknown;
  readonly message: string;
  readonly data?: unknown;
}

/** What the server said went wrong, as the cause of an error. */
function said({ code, message, data }: JsonRpcError, link: Link): JsonRpcError {
  return Object.freeze({
    code: typeof code === 'string' ? link.redact(code) : code,
    message: link.redact(message),
    data: withoutSecrets(data, link),
  });
}

/** The same value with the secrets taken out, or nothing where that cannot be done. */
function withoutSecrets(data: unknown, link: Link): unknown {
  try {
    if (data === undefined) return undefined;
    const json = JSON.stringify(data);
    const redacted = link.redact(json);
    return redacted === json ? data : JSON.parse(redacted);
  } catch {
    return undefined;
  }
}

function httpOutcome(status: number): CallOutcome {
  return status >= 400 && status < 500 ? 'refused' : 'unknown';
}

function httpMessage({ status, body }: { status: number; body: string }, link: Link): string {
  const text = excerpt(jsonRpcError(body, link)?.message ?? body, link);
  const hint = status === 401 || status === 403 ? ' Check the credentials that the toolset sends.' : '';
  return `the server answered HTTP ${status}${text === '' ? '' : ` (${text})`}.${hint}`;
}

function jsonRpcError(body: string, link: Link): JsonRpcError | undefined {
  try {
    const parsed = JSON.parse(body) as { error?: Partial<JsonRpcError> } | null;
    const message: unknown = parsed?.error?.message;
    return typeof message === 'string' ? said({ ...parsed?.error, message }, link) : undefined;
  } catch {
    return undefined;
  }
}

function excerpt(text: string, link: Link): string {
  return cut(link.redact(text).replace(/\s+/g, ' ').trim());
}

function cut(text: string): string {
  return text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH).toWellFormed()}…` : text;
}

/** How errors name a request. */
export function describe({ toolset, method, tool }: RequestSubject): string {
  return `Toolset ${toolset}, ${tool === undefined ? method : `tool ${quoted(tool)}`}`;
}
