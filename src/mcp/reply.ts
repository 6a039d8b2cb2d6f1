import { z } from 'zod/v4';
import type { JSONRPCMessage } from './official-client';
import type { RequestFailureDetails } from './request-failure';

/** A JSON object from the server. */
export type RawResult = Readonly<Record<string, unknown>>;

/** Any object: what is in it is looked at by the code that needs it. */
export const anyResult = z.custom<Record<string, unknown>>(isObject);

/** What a reply says. Not every transport checks what it receives, so nothing is taken for granted here. */
export function readReply(message: JSONRPCMessage): { result: RawResult } | { failure: RequestFailureDetails } {
  if ('error' in message) return { failure: errorOf(message.error) };
  const result: unknown = 'result' in message ? message.result : undefined;
  return isObject(result) ? { result } : { failure: { kind: 'unreadable', message: 'its result is no object' } };
}

/** The failure that an error tells, by its own three fields: a server may send any others. */
function errorOf(error: unknown): RequestFailureDetails {
  const { code, message, data } = Object(error) as { code?: unknown; message?: unknown; data?: unknown };
  return Number.isSafeInteger(code) && typeof message === 'string'
    ? { kind: 'reply', code: code as number, message, data }
    : { kind: 'unreadable', message: 'its error has no code or no message' };
}

function isObject(value: unknown): value is RawResult {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
