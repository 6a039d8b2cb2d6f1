import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { setTimeout } from 'node:timers/promises';
import { RequestFailure } from '../request-failure';
import { bounded, eventStream, mediaType, truncated, withBody } from './bodies';
import { currentExchange } from './exchange';

/** How much of an error's page is looked at. */
const ERROR_BYTES = 64 * 1024;
/** Milliseconds that the beginning of an unexpected page is waited for. */
const EXCERPT_WAIT = 250;

/**
 * The fetch that the SDK's transport is given: bodies are bounded, and an answer that cannot hold the reply to a request
 * fails at once. There is no standing stream, because nothing listens to it.
 */
export function exchangeFetch(send: FetchLike, maxBytes: number): FetchLike {
  return async (url, init = {}) => {
    const isMessage = new Headers(init.headers).get('accept')?.includes('text/event-stream') === true;
    if (isMessage && init.method === 'GET') return new Response(null, { status: 405 });
    const exchange = isMessage ? currentExchange.getStore() : undefined;
    if (!exchange) return bounded(await send(url, init), maxBytes);
    const { signal } = exchange;
    const response = await send(url, { ...init, signal });
    if (!response.ok) return truncated(response, Math.min(maxBytes, ERROR_BYTES));
    if (mediaType(response) === 'text/event-stream') {
      const resume = (lastEventId: string): Promise<Response> => send(url, resumption(init, lastEventId, signal));
      return withBody(response, eventStream(response, { exchange, maxBytes, resume }));
    }
    if (mediaType(response) === 'application/json' && response.status !== 202) return bounded(response, maxBytes);
    throw await unexpected(response);
  };
}

function resumption(init: RequestInit, lastEventId: string, signal: AbortSignal): RequestInit {
  const headers = new Headers(init.headers);
  headers.delete('content-type');
  headers.set('accept', 'text/event-stream');
  headers.set('last-event-id', lastEventId);
  return { method: 'GET', headers, signal };
}

async function unexpected(response: Response): Promise<RequestFailure> {
  const type = mediaType(response);
  const excerpt = await excerptOf(response);
  const what =
    response.status === 202
      ? 'it is 202 Accepted, where a reply was due'
      : `it is ${type || 'without a content type'}, not JSON or an event stream`;
  return new RequestFailure({ kind: 'unreadable', message: `${what}${excerpt === '' ? '' : `: ${excerpt}`}` });
}

/** The beginning of a body, if it comes at once. */
async function excerptOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return '';
  const waiting = new AbortController();
  const late = setTimeout(EXCERPT_WAIT, undefined, { signal: waiting.signal }).catch(() => undefined);
  const first = await Promise.race([reader.read().catch(() => undefined), late]);
  waiting.abort();
  reader.cancel().catch(() => undefined);
  return first?.value ? Buffer.from(first.value).toString('utf8').toWellFormed() : '';
}
