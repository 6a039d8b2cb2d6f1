import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { showOnly } from '../../run/show-only';
import type { HttpConnectionOptions } from '../../toolset/client-source';
import { markOwn } from '../official-client';
import type { CallbackFailure, RequestFailureDetails } from '../request-failure';
import { Authorization, type OAuthRequests } from './authorization';
import { authorizedFetch } from './authorized-fetch';
import { directFetch } from './direct-fetch';
import { endpointFetch, learnAll, learnChanges } from './endpoint-fetch';
import { DROPPED, HttpExchange, type ExchangeFetch } from './exchange';
import { exchangeFetch, type BoundedRequest } from './exchange-fetch';
import { oauthRequests } from './oauth-requests';
import { Redaction } from './redaction';

const DEFAULT_MAX_RESPONSE_BYTES = 10 * 1024 * 1024;
/** How many values of headers are remembered for redaction; signatures are new with each request. */
const MOST_SECRETS = 500;
/** Answers that may be on their way at once: each takes a socket, and a server may ask without end. */
const MOST_ANSWERS = 100;

/** Milliseconds that a server has to answer a notice that takes a request back, for which nobody waits. */
const NOTICE_BOUND = 30_000;

/** Resuming a stream is `eventStream`'s, so the SDK is to try nothing of its own. */
const NO_RECONNECTION = {
  maxRetries: 0,
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 1_000,
  reconnectionDelayGrowFactor: 1,
};

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

/** The SDK's transport over Streamable HTTP, which also tells at once when a reply can no longer come. */
export class HttpTransport extends StreamableHTTPClientTransport {
  /** Set by the channel: told of each request whose reply can no longer come. */
  onlostreply?: (id: string | number, failure: RequestFailureDetails | CallbackFailure) => void;
  /** Takes the values of the headers that were sent, and those of the URL's query, out of a text. */
  readonly redact: (text: string) => string;
  /** By the id of the request that waits. */
  private readonly waiting = new Map<string | number, HttpExchange>();
  /** Those whose HTTP request is not answered to the end, whether anything waits for the reply or not. */
  private readonly open = new Set<HttpExchange>();
  /** On whose stream something is being received. */
  private receiving: HttpExchange | undefined;
  private readonly fetch: ExchangeFetch;
  private readonly oauth: OAuthRequests;
  private readonly end: AbortController;
  private readonly authorization: Authorization | undefined;
  private answers = 0;

  constructor(options: HttpConnectionOptions, listens: boolean) {
    const { url, authProvider, maxResponseBytes = DEFAULT_MAX_RESPONSE_BYTES } = options;
    const end = new AbortController();
    const sent = new Redaction(MOST_SECRETS);
    const known = new Redaction();
    const address = new URL(url);
    known.learn(queryValues(address));
    const endpoint = endpointFetch(options, learnChanges(options, sent), directFetch);
    const oauthFetch = endpointFetch(options, learnAll(sent), (to, init) => fetch(to, init));
    const oauth = oauthRequests(oauthFetch, options, maxResponseBytes);
    const authorization = authProvider && Authorization.of(authProvider as OAuthClientProvider, address);
    const send = exchangeFetch(authorization ? authorizedFetch(endpoint, authorization, oauth) : endpoint, {
      maxBytes: maxResponseBytes,
      listens,
      signal: end.signal,
      listener: {
        message: (message) => this.onmessage?.(message),
        error: (error) => this.onerror?.(error),
      },
    });
    super(address, { fetch: (to, init) => send(to, init, undefined), reconnectionOptions: NO_RECONNECTION });
    markOwn(this);
    this.fetch = send;
    this.oauth = oauth;
    this.end = end;
    this.authorization = authorization;
    this.redact = (text) => known.redact(sent.redact(authorization?.redact(text) ?? text));
    showOnly(this, []); // the URL and the headers may hold credentials
  }

  override async send(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    const id = !Array.isArray(message) && 'method' in message && 'id' in message ? message.id : undefined;
    if (id === undefined) return this.sendOneWay(message, options);
    const exchange = this.begin(id);
    const isLatest = (): boolean => this.waiting.get(id) === exchange;
    try {
      await super.send.call(this.viewFor(exchange), message, options);
    } finally {
      exchange.answered();
    }
    if (exchange.isStreaming || !isLatest()) return;
    exchange.lose({ kind: 'unreadable', message: 'it holds no reply to the request' });
  }

  override async close(): Promise<void> {
    for (const exchange of this.open) exchange.drop();
    this.end.abort(DROPPED);
    await super.close();
  }

  override async finishAuth(code: string): Promise<void> {
    await this.authorization?.finish(code, this.oauth, this.end.signal);
  }

  get hasAuthorization(): boolean {
    return this.authorization !== undefined;
  }

  /** Told by the channel that nothing waits for the reply to a request any more, and whether it came. */
  settled(id: string | number, replied: boolean): void {
    const exchange = this.waiting.get(id);
    this.waiting.delete(id);
    if (replied) exchange?.finish(this.receiving === exchange);
    else exchange?.drop();
  }

  /** Told by the channel that something that was received is no message of the protocol. */
  misread(): void {
    if (this.receiving) this.receiving.wasMisread = true;
  }

  /** The request on whose stream something is being received. */
  get receivingId(): string | number | undefined {
    return this.receiving?.id;
  }

  /** Told that another run is to have the connection: what still comes for requests of this one is none of its. */
  handOver(): void {
    for (const exchange of this.open) if (exchange.isFinished) exchange.mute();
  }

  /** Sends a notification, or an answer to the server, which goes without one where it asks too much at once. */
  private async sendOneWay(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    const takenBack = takenBackBy(message);
    // What the server has refused is not to be taken back.
    if (takenBack !== undefined && this.waiting.get(takenBack)?.isRefused) return;
    const answers = !Array.isArray(message) && !('method' in message) ? 1 : 0;
    if (this.answers + answers > MOST_ANSWERS) throw new Error(`More than ${MOST_ANSWERS} answers at once.`);
    this.answers += answers;
    try {
      await super.send.call(
        takenBack === undefined ? this : this.viewOf({ _fetch: this.fetchBounded }),
        message,
        options,
      );
    } finally {
      this.answers -= answers;
    }
  }

  /**
   * This transport, as the SDK's code sees it when it sends a request and reads the answer: what it fetches and receives
   * belongs to the exchange. An `AsyncLocalStorage` would tell too, at the price of hooks on every promise of the process.
   */
  private viewFor(exchange: HttpExchange): this {
    const fetch: FetchLike = (url, init) => this.fetch(url, init, exchange);
    const { message: onmessage, error: onerror } = exchange.listener;
    return this.viewOf({ _fetch: fetch, onmessage, onerror });
  }

  private viewOf(own: Readonly<Record<string | symbol, unknown>>): this {
    return new Proxy(this, {
      get: (transport, key) => (Object.hasOwn(own, key) ? own[key] : transport[key as keyof this]),
    });
  }

  private readonly fetchBounded: FetchLike = (url, init) => {
    const request: BoundedRequest = Object.assign({}, init, { bound: NOTICE_BOUND });
    return this.fetch(url, request, undefined);
  };

  private receive(exchange: HttpExchange, take: () => void): void {
    if (exchange.isMuted) return;
    this.receiving = exchange;
    try {
      take();
    } finally {
      this.receiving = undefined;
    }
  }

  private begin(id: string | number): HttpExchange {
    const exchange: HttpExchange = new HttpExchange(id, {
      lost: (failure) => this.onlostreply?.(id, failure),
      over: () => this.open.delete(exchange),
      message: (message) => this.receive(exchange, () => this.onmessage?.(message)),
      error: (error) => this.receive(exchange, () => this.onerror?.(error)),
    });
    this.waiting.set(id, exchange);
    this.open.add(exchange);
    return exchange;
  }
}

/** The id of the request that a message takes back, if it does (MCP specification, Cancellation). */
function takenBackBy(message: JSONRPCMessage | JSONRPCMessage[]): string | number | undefined {
  const isNotice = !Array.isArray(message) && 'method' in message && message.method === 'notifications/cancelled';
  return isNotice ? (message.params?.requestId as string | number | undefined) : undefined;
}

/** The values of a URL's query, in which some servers want an API key, as they are and as they are written. */
function queryValues({ search, searchParams }: URL): string[] {
  return [
    ...searchParams.values(),
    ...search
      .slice(1)
      .split('&')
      .map((pair) => pair.slice(pair.indexOf('=') + 1)),
  ];
}
