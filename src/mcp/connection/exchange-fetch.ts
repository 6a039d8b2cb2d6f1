import { Interruption } from '../../run/abort';
import { RequestFailure } from '../request-failure';
import { beginning, bounded, eventStream } from './bodies';
import type { DirectRequest } from './direct-fetch';
import { readMessages, type MessageListener } from './event-messages';
import type { ExchangeFetch } from './exchange';
import { headersOf } from './headers-of';
import { bodyOf, discard, HIGHEST_STATUS, mediaType } from './response-body';
import { standingStream } from './standing-stream';

/** How much of an unexpected page is looked at. */
const PAGE_BYTES = 64 * 1024;

/** Answers that hold no reply, whatever they say of their content. */
const REPLY_LESS = new Set([202, 204, 205]);

/** How responses are dealt with. */
export interface ExchangeFetchOptions {
  /** Bytes that one body, or one event of an event stream, may have. */
  readonly maxBytes: number;
  /** Whether the standing stream is opened, on which the server can speak outside of a call. */
  readonly listens: boolean;
  /** Drops the requests that are made for no exchange. */
  readonly signal: AbortSignal;
  /** Is told what comes for no exchange. */
  readonly listener: MessageListener;
}

/**
 * The fetch that the SDK's transport is given: bodies are bounded, and an answer that cannot hold the reply to a request
 * fails at once. Event streams are read here, and are none to the SDK. There is no standing stream where nothing listens
 * to it.
 */
export function exchangeFetch(send: ExchangeFetch, options: ExchangeFetchOptions): ExchangeFetch {
  const { maxBytes } = options;
  return async (url, init = {}, exchange) => {
    const isMessage = headersOf(init).get('accept')?.includes('text/event-stream') === true;
    if (isMessage && init.method === 'GET') {
      if (!options.listens) return new Response(null, { status: 405 });
      return standingStream(
        (more) => send(url, resumption({ ...init, signal: options.signal, isTimed: true }, more), undefined),
        options,
      );
    }
    if (!exchange) return oneWay(send, { url, init }, options);
    const sent: DirectRequest = Object.assign({}, init, { signal: exchange.signal, isTimed: true });
    const response = await send(url, sent, exchange);
    if (!response.ok) throw await refused(response, maxBytes);
    const type = REPLY_LESS.has(response.status) ? undefined : mediaType(response);
    if (type === 'application/json') return bounded(response, maxBytes);
    if (type !== 'text/event-stream') throw await unexpected(response, maxBytes);
    exchange.streamStarted();
    const resume = (lastEventId: string): Promise<Response> => {
      const sessionId = response.headers.get('mcp-session-id');
      return send(url, resumption(sent, { lastEventId, sessionId }), exchange);
    };
    void readMessages(eventStream(bodyOf(response), { exchange, maxBytes, resume }), exchange.listener);
    return withoutBody(response, 202);
  };
}

/** A request that may be dropped after `bound` milliseconds. */
export interface BoundedRequest extends RequestInit {
  readonly bound?: number;
}

interface HttpRequest {
  readonly url: string | URL;
  readonly init: BoundedRequest;
}

/**
 * Makes a request whose answer nobody reads: a response without body, for the SDK would wait until a body is let go of,
 * which may be never. Its signal is its own, because one signal may not have any number of listeners.
 */
async function oneWay(
  send: ExchangeFetch,
  { url, init }: HttpRequest,
  { maxBytes, signal }: ExchangeFetchOptions,
): Promise<Response> {
  const own = new Interruption([signal]);
  const { bound } = init;
  const giveUp = (): void => own.end(new Error(`The server has not answered a notice within ${bound} ms.`));
  const timer = bound === undefined ? undefined : setTimeout(giveUp, bound).unref();
  try {
    const response = await send(url, Object.assign({}, init, { signal: own.signal }), undefined);
    if (!response.ok && init.method !== 'DELETE') throw await refused(response, maxBytes);
    discard(response);
    return withoutBody(response, Math.min(response.status, HIGHEST_STATUS));
  } finally {
    clearTimeout(timer);
    own.release();
  }
}

/** What the SDK is given of an answer that it is not to read. */
function withoutBody(response: Response, status: number): Response {
  const sessionId = response.headers.get('mcp-session-id');
  return new Response(null, { status, headers: sessionId === null ? {} : { 'mcp-session-id': sessionId } });
}

async function refused(response: Response, maxBytes: number): Promise<RequestFailure> {
  const body = await beginning(response, Math.min(maxBytes, PAGE_BYTES));
  return new RequestFailure({ kind: 'http', status: response.status, body });
}

/** The request by which a stream goes on after an event. */
function resumption(
  init: DirectRequest,
  { lastEventId, sessionId }: { readonly lastEventId: string | undefined; readonly sessionId?: string | null },
): DirectRequest {
  const headers = new Headers(init.headers);
  headers.delete('content-type');
  headers.set('accept', 'text/event-stream');
  // In UTF-8, of which a header's value holds the bytes (HTML standard, Server-sent events).
  if (lastEventId !== undefined) headers.set('last-event-id', Buffer.from(lastEventId).toString('latin1'));
  if (sessionId) headers.set('mcp-session-id', sessionId);
  return { method: 'GET', headers, signal: init.signal ?? null, isTimed: init.isTimed ?? false };
}

async function unexpected(response: Response, maxBytes: number): Promise<RequestFailure> {
  const { status } = response;
  const type = mediaType(response) || 'without a content type';
  const page = await beginning(response, Math.min(maxBytes, PAGE_BYTES));
  const what =
    status === 200 ? `it is ${type}, not JSON or an event stream` : `it is HTTP ${status}, where a reply was due`;
  return new RequestFailure({ kind: 'unreadable', message: `${what}${page === '' ? '' : `: ${page}`}` });
}
