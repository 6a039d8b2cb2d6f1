import { randomInt } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageResultSchema,
  CreateMessageResultWithToolsSchema,
  ElicitResultSchema,
  ListRootsResultSchema,
  type JSONRPCMessage,
  type MessageExtraInfo,
} from '@modelcontextprotocol/sdk/types.js';
import { messageOf } from '../errors';
import type { UnconnectedClient } from '../toolset/client-source';
import type { CallbackFailure, RequestFailureDetails } from './request-failure';

export type { Client, JSONRPCMessage, MessageExtraInfo, Transport, TransportSendOptions };
/** What the protocol allows as results of a server's requests; the client refuses others with words of its own. */
export { CreateMessageResultSchema, CreateMessageResultWithToolsSchema, ElicitResultSchema, ListRootsResultSchema };

/** A transport as this library may meet it: an SDK one, one of its own, or the application's. */
export interface AnyTransport extends Transport {
  /** Ends the session on the server (Streamable HTTP). */
  terminateSession?(): Promise<void>;
  /** Exchanges an authorization code for tokens (Streamable HTTP). */
  finishAuth?(code: string): Promise<void>;
}

/** What the library's own transports know beside the SDK's. */
export interface TransportHooks {
  /** HTTP: whether there is an OAuth provider. */
  readonly hasAuthorization?: boolean;
  /** Set by the channel: told that the reply to a request can no longer come. */
  onlostreply?: (id: string | number, failure: RequestFailureDetails | CallbackFailure) => void;
  /** HTTP: told that nothing waits for a reply any more, and whether it came. */
  settled?(id: string | number, replied: boolean): void;
  /** HTTP: told that something that was received is no message of the protocol. */
  misread?(): void;
  /** HTTP: the request on whose stream something is being received. */
  readonly receivingId?: string | number | undefined;
  /** Told that another run is to have the connection. */
  handOver?(): void;
  /** Takes secrets out of a text. */
  redact?(text: string): string;
  /** stdio: whether the server's process has exited or closed a pipe, though its last words may still come. */
  readonly isEnding?: boolean;
  /** stdio: what the server's process has written that is no message; empty, or the rest of a sentence. */
  stray?(): string;
  /** stdio: why the connection has ended. */
  endReason?(): RequestFailureDetails;
}

/** The first ids are below it, so that those which follow keep within the 31 bits that every server can read. */
const FIRST_IDS_END = 2 ** 30;

const own = new WeakSet<object>();

/** Declares a transport to be one of the library's own: nobody else's members are taken for hooks. */
export function markOwn(transport: TransportHooks): void {
  own.add(transport);
}

/** The hooks of a transport; none where it is not the library's own. */
export function hooksOf(transport: AnyTransport): TransportHooks {
  return own.has(transport) ? (transport as TransportHooks) : {};
}

/** What this library uses of the client's own fields; where one is missing, the SDK's behaviour remains. */
interface SdkFields {
  _requestMessageId?: unknown;
  readonly _responseHandlers?: Map<unknown, (reply: Error | { readonly result: object }) => void>;
  _cleanupTimeout?(id: unknown): void;
  readonly _capabilities?: Readonly<Record<string, object | undefined>>;
  readonly _notificationHandlers?: ReadonlyMap<string, unknown>;
}

/**
 * Has a new client number its requests from a random number on, and not from 0, as all do: so an answer that comes on the
 * wrong connection, as a broken proxy may give it, is hardly ever one to another user's request.
 */
export function startIdsAtRandom(client: Client): void {
  const fields = client as unknown as SdkFields;
  if (fields._requestMessageId === 0) fields._requestMessageId = randomInt(1, FIRST_IDS_END);
}

/** The capabilities that the client is going to announce. */
export function capabilitiesOf(client: Client): Readonly<Record<string, object | undefined>> {
  return (client as unknown as SdkFields)._capabilities ?? {};
}

/** Whether the client does something about a server's request or notification by itself. */
export function handlesMethod(client: Client, method: string): boolean {
  if ((client as unknown as SdkFields)._notificationHandlers?.has(method) === true) return true;
  try {
    client.assertCanSetRequestHandler(method);
    return false;
  } catch {
    return true;
  }
}

/** Whether the client does something about a notification, as far as can be told. */
export function hearsNotification(client: Client, method: string): boolean {
  const handlers = (client as unknown as SdkFields)._notificationHandlers;
  return handlers?.has(method) !== false || client.fallbackNotificationHandler !== undefined;
}

/** Whether the client's requests are the SDK's own doing, and not that of an application which extends or wraps it. */
export function requestsAsSdk(client: Client): boolean {
  if ((client as unknown as SdkFields)._responseHandlers === undefined) return false;
  let base: unknown = client;
  for (let next: unknown = client; next !== null && next !== Object.prototype; next = Object.getPrototypeOf(next)) {
    base = next;
  }
  return (base as Client).request === client.request;
}

const EMPTY_REPLY = { jsonrpc: '2.0', result: {} };
const NO_REPLY = new Error('no reply');

/**
 * Settles a request of a client's as a reply would that is empty, or an error where `succeeded` is false. It takes a
 * message for that, which the client would look through three times. False where the client cannot be told so.
 */
export function settleRequest(client: Client, id: string | number, succeeded: boolean): boolean {
  const fields = client as unknown as SdkFields;
  const handler = fields._responseHandlers?.get(id);
  if (!handler || !fields._cleanupTimeout) return false;
  fields._responseHandlers?.delete(id);
  fields._cleanupTimeout(id);
  handler(succeeded ? EMPTY_REPLY : NO_REPLY);
  return true;
}

// An application may load the other build of the SDK than this library does, so nothing here uses instanceof.

/** Whether a value has the shape of an official client. */
export function isOfficialClient(value: unknown): value is Client {
  return hasMethods(value, [
    'connect',
    'request',
    'notification',
    'close',
    'getServerCapabilities',
    'setRequestHandler',
  ]);
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
  // A bundler may have renamed the class.
  return 'pid' in transport && 'stderr' in transport && 'processReadBuffer' in transport;
}

/** Client and transport as the SDK types them. */
export function asOfficial(parts: UnconnectedClient): { client: Client; transport: AnyTransport } {
  return { client: parts.client as Client, transport: parts.transport };
}

/** Whether connecting failed because the transport had been started before. */
export function isAlreadyStarted(error: unknown): boolean {
  return /^(\w+ )?already (started|connected)/i.test(messageOf(error));
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}
