import type { ToolBinding } from '../tool/tool-binding';

/** A value, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>;

/** The parts of the official SDK's transport that the library uses (`@modelcontextprotocol/sdk`, `Transport`). */
export interface OfficialTransport {
  start(): Promise<void>;
  send(message: never, options?: never): Promise<void>;
  close(): Promise<void>;
}

/** The parts of the official SDK's client that the library uses (`@modelcontextprotocol/sdk`, `Client`). */
export interface OfficialClient {
  connect(transport: never, options?: never): Promise<void>;
  request(request: never, resultSchema: never, options?: never): Promise<unknown>;
  close(): Promise<void>;
}

/** A new official client and the transport that it is to be connected through; nothing has been started yet. */
export interface UnconnectedClient {
  readonly client: OfficialClient;
  readonly transport: OfficialTransport;
  /** Time for one request in milliseconds. Default: the toolset's, else the configured default. */
  readonly timeout?: number | undefined;
}

/** Options forwarded to the official client's `connect`. */
export interface ConnectOptions {
  /** Time for connecting in milliseconds. Default: the time for one request. */
  readonly timeout?: number | undefined;
  readonly [option: string]: unknown;
}

/** The parts of the official SDK's `OAuthClientProvider` by which one is recognised. */
export interface OfficialAuthProvider {
  tokens(): unknown;
  saveTokens(tokens: never): unknown;
  clientInformation(): unknown;
  redirectToAuthorization(url: never): unknown;
}

/** Signs a request by changing `headers` in place. */
export type RequestSigner = (request: {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string | undefined;
}) => Awaitable<void>;

/** A connection over Streamable HTTP (MCP specification, Transports). */
export interface HttpConnectionOptions {
  /** The MCP endpoint; `https:` unless `allowInsecureHttp` is set. */
  readonly url: string | URL;
  /** Headers of every request, such as credentials. They never reach another origin. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Time for one request in milliseconds. Default: the toolset's, else the configured default. */
  readonly timeout?: number | undefined;
  /** Called for every request to the endpoint, its retries and redirects; what it throws reaches the application as it is. */
  readonly signer?: RequestSigner | undefined;
  /** An `OAuthClientProvider` of the official SDK (MCP specification, Authorization). */
  readonly authProvider?: OfficialAuthProvider | undefined;
  /**
   * Bytes that one response body, or one event of an event stream, may have. Default 10 MiB. Neither may be nested more than
   * 1,000 levels deep.
   */
  readonly maxResponseBytes?: number | undefined;
  /** Makes the requests. Default: undici through the global dispatcher, or a global `fetch` that is not Node's own. */
  readonly fetch?: ((url: string | URL, init?: RequestInit) => Promise<Response>) | undefined;
  /** Allows `http:`, for servers on the same machine or a trusted network. Default false. */
  readonly allowInsecureHttp?: boolean | undefined;
}

/** A connection to a child process over standard input and output (MCP specification, Transports). */
export interface StdioConnectionOptions {
  /** The executable. */
  readonly command: string;
  /** Its arguments. */
  readonly args?: readonly string[] | undefined;
  /** Variables in addition to the SDK's safe default environment; the rest of the parent's is not inherited. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Bytes that one message of the server may have. Default 10 MiB. Nor may it be nested more than 1,000 levels deep. */
  readonly maxMessageBytes?: number | undefined;
  /** Its working directory. Default: that of this process. */
  readonly cwd?: string | undefined;
  /** Time for one request in milliseconds. Default: the toolset's, else the configured default. */
  readonly timeout?: number | undefined;
}

/** From what the library builds client and transport. */
export type ConnectionOptions = HttpConnectionOptions | StdioConnectionOptions;

/** Connection options, or a function of the binding that returns them. */
export type ConnectionSource = ConnectionOptions | ((binding: ToolBinding) => Awaitable<ConnectionOptions>);

/** A checked source of clients. */
export type ClientSource =
  | { readonly kind: 'connection'; readonly connection: ConnectionSource }
  | { readonly kind: 'factory'; readonly method: string | symbol; readonly connectOptions: ConnectOptions };
