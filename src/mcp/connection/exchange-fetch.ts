import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { RequestFailure } from '../request-failure';
import type { Authorization } from './authorization';
import { beginning, bounded, eventStream, mediaType, withBody } from './bodies';
import { headersOf } from './endpoint-fetch';
import { standingStream } from './standing-stream';
import { currentExchange, type HttpExchange } from './exchange';

/** How much of an unexpected page is looked at. */
const PAGE_BYTES = 64 * 1024;
const HIGHEST_STATUS = 599;

/** How responses are dealt with. */
export interface ExchangeFetchOptions {
  /** Bytes that one body, or one event of an event stream, may have. */
  readonly maxBytes: number;
  /** By which the SDK answers a demand for credentials. */
  readonly authorization: Authorization | undefined;
  /** Whether the standing stream is opened, on which the server can speak outside of a call. */
  readonly listens: boolean;
  /** Is told what may not appear in an error. */
  readonly learn: (secrets: string[]) => void;
  /** Drops the requests that are made for no exchange. */
  readonly signal: AbortSignal;
}

/**
 * The fetch that the SDK's transport is given: bodies are bounded, and an answer that cannot hold the reply to a request
 * fails at once. There is no standing stream where nothing listens to it.
 */
export function exchangeFetch(send: FetchLike, options: ExchangeFetchOptions): FetchLike {
  const { maxBytes } = options;
  return async (url, init = {}) => {
    const isMessage = headersOf(init).get('accept')?.includes('text/event-stream') === true;
    if (isMessage && init.method === 'GET') {
      if (!options.listens) return new Response(null, { status: 405 });
      return standingStream((more) => send(url, resumption({ ...init, signal: options.signal }, more)), options);
    }
    if (!isMessage) options.learn(oauthSecrets(init));
    const exchange = currentExchange.getStore();
    const sent = { ...init, signal: exchange?.signal ?? options.signal };
    const response =
      isMessage && exchange ? await sendAuthorized(send, { url, sent, exchange }, options) : await send(url, sent);
    if (response.status > HIGHEST_STATUS || (isMessage && !response.ok)) return refused(response, options, exchange);
    if (!isMessage || !exchange) return bounded(response, maxBytes);
    const type = response.status === 202 || !response.body ? undefined : mediaType(response);
    if (type === 'application/json') return bounded(response, maxBytes);
    if (type !== 'text/event-stream') throw await unexpected(response, maxBytes);
    exchange.streamStarted();
    const resume = (lastEventId: string): Promise<Response> => {
      const sessionId = response.headers.get('mcp-session-id');
      return send(url, resumption(sent, { lastEventId, sessionId }));
    };
    return withBody(response, (body) => eventStream(body, { exchange, maxBytes, resume }));
  };
}

const SECRET_FIELDS = ['code', 'code_verifier', 'refresh_token', 'client_secret', 'client_assertion', 'assertion'];

/** What a request to an authorization server holds that nobody else may see. */
function oauthSecrets({ headers, body }: RequestInit): string[] {
  const fields = body instanceof URLSearchParams || typeof body === 'string' ? new URLSearchParams(body) : undefined;
  const secrets = SECRET_FIELDS.map((field) => fields?.get(field) ?? '');
  return [...secrets, new Headers(headers).get('authorization') ?? ''];
}

interface SentMessage {
  readonly url: string | URL;
  readonly sent: RequestInit;
  readonly exchange: HttpExchange;
}

/** Sends a message; one that is refused for its token goes out once more if another one has come by now. */
async function sendAuthorized(
  send: FetchLike,
  { url, sent, exchange }: SentMessage,
  { authorization }: ExchangeFetchOptions,
): Promise<Response> {
  const response = await send(url, sent);
  if (!authorization || response.status !== 401) return response;
  const headers = new Headers(sent.headers);
  const turn = await authorization.begin(headers.get('authorization'), exchange.signal);
  if ('end' in turn) {
    exchange.endTurn = turn.end;
    return response;
  }
  response.body?.cancel().catch(() => undefined);
  headers.set('authorization', turn.header);
  return send(url, { ...sent, headers });
}

/**
 * An error that the SDK answers with authorization.
 * @throws RequestFailure for every other
 */
async function refused(
  response: Response,
  { maxBytes, authorization }: ExchangeFetchOptions,
  exchange: HttpExchange | undefined,
): Promise<Response> {
  const { status, headers } = response;
  const body = await beginning(response, Math.min(maxBytes, PAGE_BYTES));
  const needsMore = status === 403 && headers.get('www-authenticate')?.includes('insufficient_scope') === true;
  if (!authorization || !(status === 401 || needsMore)) throw new RequestFailure({ kind: 'http', status, body });
  if (exchange) exchange.challenge = status;
  return new Response(body, { status, headers });
}

/** The request by which a stream goes on after an event. */
function resumption(
  init: RequestInit,
  { lastEventId, sessionId }: { readonly lastEventId: string | undefined; readonly sessionId?: string | null },
): RequestInit {
  const headers = new Headers(init.headers);
  headers.delete('content-type');
  headers.set('accept', 'text/event-stream');
  if (lastEventId !== undefined) headers.set('last-event-id', lastEventId);
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
