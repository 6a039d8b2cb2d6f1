import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { HttpConnectionOptions } from '../../toolset/client-source';
import type { RequestFailureDetails } from '../request-failure';
import { endpointFetch } from './endpoint-fetch';
import { currentExchange, HttpExchange } from './exchange';
import { exchangeFetch } from './exchange-fetch';
import { redaction } from './redaction';

const DEFAULT_MAX_RESPONSE_BYTES = 10 * 1024 * 1024;

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
  onlostreply?: (id: string | number, failure: RequestFailureDetails) => void;
  /** Takes the values of the application's headers out of a text. */
  readonly redact: (text: string) => string;
  /** By the id of the request that waits. */
  private readonly exchanges = new Map<string | number, HttpExchange>();
  /** Those that nothing waits for any more, but whose stream the server has not ended. */
  private readonly streams = new Set<HttpExchange>();

  constructor(options: HttpConnectionOptions) {
    const { url, headers, authProvider, maxResponseBytes = DEFAULT_MAX_RESPONSE_BYTES } = options;
    super(new URL(url), {
      fetch: exchangeFetch(endpointFetch(options), maxResponseBytes),
      reconnectionOptions: NO_RECONNECTION,
      ...(authProvider && { authProvider: authProvider as OAuthClientProvider }),
    });
    this.redact = redaction(Object.values(headers ?? {}));
  }

  override async send(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    const id = !Array.isArray(message) && 'method' in message && 'id' in message ? message.id : undefined;
    if (id === undefined) return currentExchange.run(undefined, () => super.send(message, options));
    const exchange = this.begin(id);
    await currentExchange.run(exchange, () => super.send(message, options));
    // After authorization the SDK sends the message again by this method, and then the later exchange counts.
    if (exchange.isStreaming || this.exchanges.get(id) !== exchange) return;
    exchange.lose({ kind: 'unreadable', message: 'it holds no reply to the request' });
  }

  override async close(): Promise<void> {
    for (const exchange of [...this.exchanges.values(), ...this.streams]) exchange.drop();
    await super.close();
  }

  /** Told by the channel that nothing waits for the reply to a request any more, and whether it came. */
  settled(id: string | number, replied: boolean): void {
    const exchange = this.exchanges.get(id);
    this.exchanges.delete(id);
    if (!exchange) return;
    if (exchange.isStreaming) this.streams.add(exchange);
    if (replied) exchange.finish();
    else exchange.drop();
  }

  private begin(id: string | number): HttpExchange {
    const exchange: HttpExchange = new HttpExchange(
      (failure) => this.onlostreply?.(id, failure),
      () => this.streams.delete(exchange),
    );
    this.exchanges.set(id, exchange);
    return exchange;
  }
}
