import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { setMaxListeners } from 'node:events';
import { messageOf } from '../../errors';
import type { HttpConnectionOptions } from '../../toolset/client-source';
import { markOwn } from '../official-client';
import { CallbackFailure, RequestFailure, type RequestFailureDetails } from '../request-failure';
import { Authorization } from './authorization';
import { endpointFetch } from './endpoint-fetch';
import { currentExchange, HttpExchange } from './exchange';
import { exchangeFetch } from './exchange-fetch';
import { Redaction } from './redaction';

const DEFAULT_MAX_RESPONSE_BYTES = 10 * 1024 * 1024;
/** How many values of headers are remembered for redaction; signatures are new with each request. */
const MOST_SECRETS = 500;
/** Answers that may be on their way at once: each takes a socket, and a server may ask without end. */
const MOST_ANSWERS = 100;

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
  private readonly endpoint: URL;
  private readonly fetch: FetchLike;
  private readonly end: AbortController;
  private readonly authorization: Authorization | undefined;
  private answers = 0;

  constructor(options: HttpConnectionOptions, listens: boolean) {
    const { url, authProvider, maxResponseBytes = DEFAULT_MAX_RESPONSE_BYTES } = options;
    const end = new AbortController();
    // Every notice and every answer listens to it.
    setMaxListeners(0, end.signal);
    const sent = new Redaction(MOST_SECRETS);
    const known = new Redaction();
    known.learn(queryValues(new URL(url)));
    const authorization = authProvider && new Authorization(authProvider as OAuthClientProvider);
    const fetch = exchangeFetch(endpointFetch(options, sent), {
      maxBytes: maxResponseBytes,
      authorization,
      listens,
      learn: (secrets) => sent.learn(secrets),
      signal: end.signal,
    });
    super(new URL(url), {
      fetch,
      reconnectionOptions: NO_RECONNECTION,
      ...(authorization && { authProvider: authorization.provider }),
    });
    markOwn(this);
    this.endpoint = new URL(url);
    this.fetch = fetch;
    this.end = end;
    this.authorization = authorization;
    this.redact = (text) => known.redact(sent.redact(text));
  }

  override async send(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    const id = !Array.isArray(message) && 'method' in message && 'id' in message ? message.id : undefined;
    if (id === undefined) return this.sendOneWay(message, options);
    // After authorization the SDK sends the message again by this method, and the turn to authorize is over.
    this.waiting.get(id)?.endTurn?.();
    const exchange = this.begin(id);
    const isLatest = (): boolean => this.waiting.get(id) === exchange;
    try {
      await currentExchange.run(exchange, () => super.send(message, options));
    } catch (error) {
      throw isLatest() ? this.authorizationFailure(error, exchange.challenge) : error;
    } finally {
      exchange.endTurn?.();
      exchange.answered();
    }
    if (exchange.isStreaming || !isLatest()) return;
    exchange.lose({ kind: 'unreadable', message: 'it holds no reply to the request' });
  }

  override async close(): Promise<void> {
    for (const exchange of this.open) exchange.drop();
    this.end.abort();
    await super.close();
  }

  override async finishAuth(code: string): Promise<void> {
    await this.authorization?.finish(code, this.endpoint, this.fetch);
  }

  get hasAuthorization(): boolean {
    return this.authorization !== undefined;
  }

  /** Told by the channel that nothing waits for the reply to a request any more, and whether it came. */
  settled(id: string | number, replied: boolean): void {
    const exchange = this.waiting.get(id);
    this.waiting.delete(id);
    if (replied) exchange?.finish();
    else exchange?.drop();
  }

  /** Told by the channel that something that was received is no message of the protocol. */
  misread(): void {
    const exchange = currentExchange.getStore();
    if (exchange) exchange.wasMisread = true;
  }

  /** The request on whose stream the message came that is being received. */
  currentRequestId(): string | number | undefined {
    return currentExchange.getStore()?.id;
  }

  /** What the SDK says when it could not be authorized is no news of the request, which the server has refused. */
  private authorizationFailure(error: unknown, challenge: number | undefined): unknown {
    if (error instanceof RequestFailure || error instanceof CallbackFailure) return error;
    const url = this.authorization?.takeRedirect();
    if (url) return new RequestFailure({ kind: 'authorization', url });
    if (challenge === undefined) return error;
    return new RequestFailure({ kind: 'http', status: challenge, body: messageOf(error) });
  }

  /** Sends a notification, or an answer to the server, which goes without one where it asks too much at once. */
  private async sendOneWay(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    const answers = !Array.isArray(message) && !('method' in message) ? 1 : 0;
    if (this.answers + answers > MOST_ANSWERS) throw new Error(`More than ${MOST_ANSWERS} answers at once.`);
    this.answers += answers;
    try {
      await currentExchange.run(undefined, () => super.send(message, options));
    } catch (error) {
      throw this.authorizationFailure(error, undefined);
    } finally {
      this.answers -= answers;
    }
  }

  private begin(id: string | number): HttpExchange {
    const exchange: HttpExchange = new HttpExchange(id, {
      lost: (failure) => this.onlostreply?.(id, failure),
      over: () => this.open.delete(exchange),
    });
    this.waiting.set(id, exchange);
    this.open.add(exchange);
    return exchange;
  }
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
