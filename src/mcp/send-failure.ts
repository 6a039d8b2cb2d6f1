import { messageOf, traitOf } from '../errors';
import { isMisreading, RequestFailure, type RequestFailureDetails } from './request-failure';

const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ENOENT',
  'EACCES',
]);

/** What a transport's failure to send says about the request. */
export function sendFailure(error: unknown): RequestFailureDetails {
  if (error instanceof RequestFailure) return error.details;
  const message = messageOf(error);
  const code = traitOf(error, 'code');
  const cause = traitOf(error, 'cause');
  const status = httpStatus(code, message);
  if (status !== undefined) return { kind: 'http', status, body: httpBody(message) };
  if (isMisreading(error) || code === -1) {
    return { kind: 'unreadable', message: code === -1 ? message : 'it is no message of the protocol', cause: error };
  }
  if (traitOf(error, 'name') === 'TypeError' && /serialize|circular/i.test(message)) {
    return { kind: 'unsendable', message: 'it cannot be written as JSON', cause: error };
  }
  if (message === 'Not connected' || wasNeverSent(traitOf(cause, 'code') === undefined ? error : cause)) {
    return { kind: 'unsent', message: networkMessage(message, cause), cause: error };
  }
  return { kind: 'closed', message: networkMessage(message, cause), cause: error };
}

/** A host can become unreachable on a connection that is there: then it is a `read` or a `write` that says so. */
function wasNeverSent(error: unknown): boolean {
  const code = traitOf(error, 'code');
  const syscall = traitOf(error, 'syscall');
  return typeof code === 'string' && NEVER_SENT.has(code) && syscall !== 'read' && syscall !== 'write';
}

/** Whether it is the name of zod's errors: its small build, which the client checks results with, adds the sign. */
function httpStatus(code: unknown, message: string): number | undefined {
  if (typeof code === 'number' && code >= 100 && code <= 599) return code;
  const named = /\(HTTP (\d{3})\)/.exec(message)?.[1];
  return named === undefined ? undefined : Number(named);
}

function httpBody(message: string): string {
  return message.replace(/^(Streamable HTTP error|SSE error): /, '').replace(/^Error POSTing to endpoint[^:]*: /, '');
}

function networkMessage(message: string, cause: unknown): string {
  const reason = cause === undefined || cause === null ? '' : messageOf(cause);
  return reason === '' || message.includes(reason) ? message : `${message} (${reason})`;
}
