import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { DirectAnswer } from './direct-answer';
import { headersOf } from './headers-of';

/** Where every version of undici, Node's own too, has the global dispatcher. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');
/** Headers that go out unless the application sends its own; some servers want to know who asks. */
const DEFAULTS = [
  ['accept', '*/*'],
  ['user-agent', 'node'],
  ['accept-encoding', 'gzip, br'],
] as const;
/** The source of Node's own `fetch`, which does nothing but load undici's. */
const NODES =
  /^function fetch\(input, init = undefined\) \{[^]{0,200}require\('internal\/deps\/undici\/undici'\);[^]{0,200}$/;
/** Else undici gives up where nothing comes for five minutes. */
const WITHOUT_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0 };

/** A request, of which whoever makes it may say that it gives up by itself, however long nothing comes. */
export interface DirectRequest extends RequestInit {
  readonly isTimed?: boolean;
}

/** What is needed of a dispatcher of undici. */
interface Dispatcher {
  dispatch(options: object, handler: DirectAnswer): unknown;
}

/**
 * A request by undici's global dispatcher, through which Node's own `fetch` makes its requests too, at a fourth of the
 * price; by the global `fetch` where the application, or something that watches or plays a network, has put one of its own
 * there. Takes bodies of text, and follows no redirect.
 */
export const directFetch: FetchLike = (url, init = {}) => {
  const dispatcher = (globalThis as { readonly [DISPATCHER]?: Dispatcher })[DISPATCHER];
  return dispatcher && isNodes(fetch) ? requested(dispatcher, new URL(url), init) : fetch(url, init);
};

/** Whether it is the `fetch` that Node comes with: its source tells, whoever was there first, and runs nothing of it. */
function isNodes(current: unknown): boolean {
  return typeof current === 'function' && NODES.test(Function.prototype.toString.call(current));
}

async function requested(dispatcher: Dispatcher, url: URL, init: DirectRequest): Promise<Response> {
  const signal = init.signal ?? undefined;
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const answer = new DirectAnswer(signal, { resolve, reject });
    const request = {
      origin: url.origin,
      path: url.pathname + url.search,
      method: init.method ?? 'GET',
      headers: sent(headersOf(init)),
      body: init.body ?? null,
      // A dispatcher may be set up to follow them, to wherever they lead.
      maxRedirections: 0,
      ...(init.isTimed && WITHOUT_TIMEOUTS),
    };
    try {
      dispatcher.dispatch(request, answer);
    } catch (error) {
      answer.fail(error);
    }
  });
}

/** Names and values in turn. As with `fetch`, the host is the URL's. */
function sent(headers: Headers): string[] {
  const all = [...headers].filter(([name]) => name !== 'host').flat();
  for (const [name, value] of DEFAULTS) if (!headers.has(name)) all.push(name, value);
  return all;
}
