import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { RequestFailure } from '../request-failure';
import { beginning, bounded, eventStream, mediaType, withBody } from './bodies';
import { currentExchange, type HttpExchange } from './exchange';

/** How much of an unexpected page is looked at. */
const PAGE_BYTES = 64 * 1024;
const HIGHEST_STATUS = 599;

/** How responses are dealt with. */
export interface ExchangeFetchOptions {
  /** Bytes that one body, or one event of an event stream, may have. */
  readonly maxBytes: number;
  /** Whether the SDK answers a demand for credentials with authorization. */
  readonly authorizes: boolean;
  /** Drops the requests that are made for no exchange. */
  readonly signal: AbortSignal;
}

/**
 * The fetch that the SDK's transport is given: bodies are bounded, and an answer that cannot hold the reply to a request
 * fails at once. There is no standing stream, because nothing listens to it.
 */
export function exchangeFetch(send: FetchLike, options: ExchangeFetchOptions): FetchLike {
  const { maxBytes } = options;
  return async (url, init = {}) => {
    const isMessage = new Headers(init.headers).get('accept')?.includes('text/event-stream') === true;
    if (isMessage && init.method === 'GET') return new Response(null, { status: 405 });
    const exchange = currentExchange.getStore();
    const sent = { ...init, signal: exchange?.signal ?? options.signal };
    const response = await send(url, sent);
    if (response.status > HIGHEST_STATUS || (isMessage && !response.ok)) return refused(response, options, exchange);
    if (!isMessage || !exchange) return bounded(response, maxBytes);
    const type = response.status === 202 || !response.body ? undefined : mediaType(response);
    if (type === 'application/json') return bounded(response, maxBytes);
    if (type !== 'text/event-stream') throw await unexpected(response, maxBytes);
    exchange.streamStarted();
    const resume = (lastEventId: string): Promise<Response> => send(url, resumption(sent, response, lastEventId));
    return withBody(response, eventStream(response, { exchange, maxBytes, resume }));
  };
}

/**
 * An error that the SDK answers with authorization.
 * @throws RequestFailure for every other
 */
async function refused(
  response: Response,
  { maxBytes, authorizes }: ExchangeFetchOptions,
  exchange: HttpExchange | undefined,
): Promise<Response> {
  const { status, headers } = response;
  const body = await beginning(response, Math.min(maxBytes, PAGE_BYTES));
  const needsMore = status === 403 && headers.get('www-authenticate')?.includes('insufficient_scope') === true;
  if (!authorizes || !(status === 401 || needsMore)) throw new RequestFailure({ kind: 'http', status, body });
  if (exchange) exchange.challenge = status;
  return new Response(body, { status, headers });
}

/** The request by which a stream goes on after an event. */
function resumption(init: RequestInit, response: Response, lastEventId: string): RequestInit {
  const headers = new Headers(init.headers);
  headers.delete('content-type');
  headers.set('accept', 'text/event-stream');
  headers.set('last-event-id', lastEventId);
  const sessionId = response.headers.get('mcp-session-id');
  if (sessionId) headers.set('mcp-session-id', sessionId);
  return { method: 'GET', headers, signal: init.signal ?? null };
}

async function unexpected(response: Response, maxBytes: number): Promise<RequestFailure> {
  const { status } = response;
  const type = mediaType(response) || 'without a content type';
  const page = await beginning(response, Math.min(maxBytes, PAGE_BYTES));
  const what =
    status === 200 ? `it is ${type}, not JSON or an event stream` : `it is HTTP ${status}, where a reply was due`;
  return new RequestFailure({ kind: 'unreadable', message: `${what}${page === '' ? '' : `: ${page}`}` });
}
