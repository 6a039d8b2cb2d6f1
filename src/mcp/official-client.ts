import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, MessageExtraInfo } from '@modelcontextprotocol/sdk/types.js';
import { messageOf } from '../errors';
import type { UnconnectedClient } from '../toolset/client-source';
import type { RequestFailureDetails } from './request-failure';

export type { Client, JSONRPCMessage, MessageExtraInfo, Transport, TransportSendOptions };

/** A transport as this library may meet it: an SDK one, one of its own, or the application's. */
export interface AnyTransport extends Transport {
  /** Ends the session on the server (Streamable HTTP). */
  terminateSession?(): Promise<void>;
  /** Set by the library: tells that the reply to a request can no longer come. */
  onlostreply?: (id: string | number, error: Error) => void;
  /** Of the library's own transports: takes secrets out of a text. */
  redact?(text: string): string;
  /** Of the library's own stdio transport: the end of what the child wrote to stderr. */
  stderrTail?(): string;
}

// An application may load the other build of the SDK than this library does, so nothing here uses instanceof.

/** Whether a value has the shape of an official client. */
export function isOfficialClient(value: unknown): value is Client {
  return hasMethods(value, ['connect', 'request', 'notification', 'close', 'getServerCapabilities', 'setRequestHandler']);
}

/** Whether a value has the shape of a transport. */
export function isTransport(value: unknown): value is AnyTransport {
  return hasMethods(value, ['start', 'send', 'close']);
}

/** Whether the client has a transport already. */
export function isConnected(client: Client): boolean {
  return client.transport !== undefined;
}

/** Whether it is the SDK's transport to a child process, or one that extends it. */
export function isStdioTransport(transport: AnyTransport): boolean {
  for (let type: unknown = transport.constructor; typeof type === 'function'; type = Object.getPrototypeOf(type)) {
    if (type.name === 'StdioClientTransport') return true;
  }
  return false;
}

/** Client and transport as the SDK types them. */
export function asOfficial(parts: UnconnectedClient): { client: Client; transport: AnyTransport } {
  return { client: parts.client as Client, transport: parts.transport as AnyTransport };
}

/** Whether connecting failed because the transport had been started before. */
export function isAlreadyStarted(error: unknown): boolean {
  return /already (started|connected)/i.test(messageOf(error));
}

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
  const message = messageOf(error);
  const { code, name, cause } = error as { code?: unknown; name?: unknown; cause?: { code?: unknown } };
  const status = httpStatus(code, message);
  if (status !== undefined) return { kind: 'http', status, body: httpBody(message) };
  if (name === 'ZodError' || name === 'SyntaxError' || code === -1) {
    return { kind: 'unreadable', message: code === -1 ? message : 'it is not a JSON-RPC message', cause: error };
  }
  const systemCode = cause?.code ?? code;
  if (message === 'Not connected' || (typeof systemCode === 'string' && NEVER_SENT.has(systemCode))) {
    return { kind: 'unsent', message: networkMessage(message, cause), cause: error };
  }
  return { kind: 'closed', message: networkMessage(message, cause), cause: error };
}

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

function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}
