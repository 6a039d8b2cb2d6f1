import type { JSONRPCMessage } from './official-client';

/** A message that wants no answer. */
export interface Notification {
  readonly method: string;
  readonly params?: unknown;
}

interface CancelNotice {
  readonly method: 'notifications/cancelled';
  readonly params: { readonly requestId: string | number };
}

export function isNotification(message: JSONRPCMessage): message is JSONRPCMessage & Notification {
  return 'method' in message && !('id' in message);
}

/** Whether a message takes a request back (MCP specification, Cancellation). */
export function isCancelNotice(message: JSONRPCMessage): message is JSONRPCMessage & CancelNotice {
  return isNotification(message) && message.method === 'notifications/cancelled';
}

/** Takes a request back. */
export function cancelNotice(requestId: string | number): JSONRPCMessage {
  const params = { requestId, reason: 'The client no longer needs the result.' };
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params };
}

/** The task that a message belongs to (MCP specification, Tasks, related task metadata). */
export function relatedTask(params: object): unknown {
  const { _meta } = params as { _meta?: unknown };
  const task = (Object(_meta) as Record<string, unknown>)['io.modelcontextprotocol/related-task'];
  return (Object(task) as { taskId?: unknown }).taskId;
}
