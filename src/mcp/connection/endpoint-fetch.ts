import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { HttpConnectionOptions } from '../../toolset/client-source';
import { callback, RequestFailure } from '../request-failure';
import { headersOf } from './headers-of';
import type { Redaction } from './redaction';
import { discard } from './response-body';

const MOST_REDIRECTS = 5;
const KEEPS_METHOD = new Set([307, 308]);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Headers that hold nothing that would have to be kept secret. */
const PUBLIC_HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'last-event-id'];
/** Headers that belong to the protocol; the application's own do not replace them where they are set. */
const PROTOCOL_HEADERS = new Set([...PUBLIC_HEADERS, 'mcp-session-id']);

/**
 * A fetch that carries the application's headers and its signature to the endpoint's origin and nowhere else, and follows
 * redirects within that origin only. `learn` is told the headers that go out; `usual` makes the requests unless the application
 * does.
 */
export function endpointFetch(
  options: HttpConnectionOptions,
  learn: (headers: Headers) => void,
  usual: FetchLike,
): FetchLike {
  const { origin } = new URL(options.url);
  const send = options.fetch ?? usual;
  const isOurs = options.fetch === undefined && options.signer === undefined;
  return async (address, init = {}) => {
    // An application that is given it may change it.
    let url = isOurs && address instanceof URL ? address : new URL(address);
    if (url.origin !== origin) {
      if (url.protocol === 'https:' || options.allowInsecureHttp) return send(url, init);
      const message = `the authorization would go to ${url.origin}, which is not https:`;
      throw new RequestFailure({ kind: 'unsent', message });
    }
    for (let followed = 0; ; followed += 1) {
      const headers = await headersFor(url, init, options);
      learn(headers);
      const response = await send(url, Object.assign({}, init, { redirect: 'manual', headers }));
      const target = redirectTarget(response, url);
      if (target === undefined) return response;
      discard(response);
      const refusal = refusalOf(target, { response, init, origin, followed });
      if (refusal !== undefined) return new Response(refusal, { status: response.status });
      url = target;
    }
  };
}

async function headersFor(url: URL, init: RequestInit, { headers, signer }: HttpConnectionOptions): Promise<Headers> {
  if (!headers && !signer) return headersOf(init);
  const all = new Headers(init.headers);
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (!(PROTOCOL_HEADERS.has(name.toLowerCase()) && all.has(name))) all.set(name, value);
  }
  if (signer) {
    const body = typeof init.body === 'string' || init.body instanceof URLSearchParams ? String(init.body) : undefined;
    await callback(() => signer({ method: init.method ?? 'GET', url, headers: all, body }));
  }
  return all;
}

/** Has `sent` learn the values of all headers that go out. */
export function learnAll(sent: Redaction): (headers: Headers) => void {
  return (headers) => sent.learn(secretsOf(headers));
}

/**
 * Does so for the requests of the SDK's transport, of which it is known what may change from one to the next: to go
 * through all headers of each takes a while.
 */
export function learnChanges(options: HttpConnectionOptions, sent: Redaction): (headers: Headers) => void {
  const learn = learnAll(sent);
  if (options.signer) return learn;
  const names = ['authorization', 'mcp-session-id', ...Object.keys(options.headers ?? {})];
  let latest: string | undefined;
  return (headers) => {
    const told = names.map((name) => headers.get(name)).join('\n');
    if (told !== latest) learn(headers);
    latest = told;
  };
}

function secretsOf(headers: Headers): string[] {
  return [...headers].filter(([name]) => !PUBLIC_HEADERS.includes(name)).map(([, value]) => value);
}

/** Where a redirect leads; undefined for any other response. */
function redirectTarget(response: Response, from: URL): URL | undefined {
  const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null;
  return location !== null && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
}

interface Redirection {
  readonly response: Response;
  readonly init: RequestInit;
  readonly origin: string;
  readonly followed: number;
}

function refusalOf(target: URL, { response, init, origin, followed }: Redirection): string | undefined {
  if (target.origin !== origin) return `a redirect to another origin, ${target.origin}, is not followed`;
  if (target.username !== '' || target.password !== '') return 'a redirect that adds credentials is not followed';
  if (followed >= MOST_REDIRECTS) return `more than ${MOST_REDIRECTS} redirects are not followed`;
  const keepsMethod = KEEPS_METHOD.has(response.status) || (init.method ?? 'GET') === 'GET';
  return keepsMethod
    ? undefined
    : `a redirect ${response.status}, which would turn the request into a GET, is not followed`;
}
