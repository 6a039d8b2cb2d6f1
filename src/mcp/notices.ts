import type { JSONRPCMessage } from './official-client';

interface CancelNotice {
  readonly method: 'notifications/cancelled';
  readonly params: { readonly requestId: string | number };
}

/** Whether a message tells of progress (MCP specification, Progress). */
export function isProgress(message: JSONRPCMessage): message is JSONRPCMessage & { readonly params?: unknown } {
  return 'method' in message && message.method === 'notifications/progress' && !('id' in message);
}

/** Whether a message takes a request back (MCP specification, Cancellation). */
export function isCancelNotice(message: JSONRPCMessage): message is JSONRPCMessage & CancelNotice {
  return 'method' in message && message.method === 'notifications/cancelled' && !('id' in message);
}
