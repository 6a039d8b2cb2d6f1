import type { Exchange } from './exchange';
import type { JSONRPCMessage } from './official-client';
import { CallbackFailure } from './request-failure';

/** What the client is given where no reply can come. */
export function noReply(id: string | number): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: -32603, message: 'No reply' } };
}

/**
 * What the client is given of a reply: it would look through all of a result, and keep what a task might still need; and
 * what it cannot read it would pass over, and wait for ever.
 */
export function replyFor({ id, isOurs, failure }: Exchange, message: JSONRPCMessage): JSONRPCMessage {
  if (failure === undefined) return isOurs ? { jsonrpc: '2.0', id, result: {} } : message;
  const isUnreadable = !(failure instanceof CallbackFailure) && failure.kind === 'unreadable';
  return isOurs || isUnreadable ? noReply(id) : message;
}
