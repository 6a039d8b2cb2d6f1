import type { Exchange } from './exchange';
import type { JSONRPCMessage } from './official-client';
import { CallbackFailure } from './request-failure';

/**
 * What the client is given of a reply, or where none came. It would look through all of a result, and keep what a task
 * might still need; and what it cannot read it would pass over, and wait for ever.
 */
export function replyFor({ id, isOurs, result, failure }: Exchange, message?: JSONRPCMessage): JSONRPCMessage {
  if (isOurs && result !== undefined) return { jsonrpc: '2.0', id, result: {} };
  const isUnreadable = !(failure instanceof CallbackFailure) && failure?.kind === 'unreadable';
  if (message !== undefined && !isOurs && !isUnreadable) return message;
  return { jsonrpc: '2.0', id, error: { code: -32603, message: 'No reply' } };
}
