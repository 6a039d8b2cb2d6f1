import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { ResponseStream } from './response-stream';
import { idOf, isObject, methodOf, paramsOf, parseJson, progressTokenOf, type JsonObject, type RpcId } from './rpc';

/** What an exchange needs of its server. */
export interface ExchangeHost {
  openSession(id?: string): string;
  answerPolitely(exchange: HttpExchange): Promise<void>;
}

/** How a response ended: `finished` when all of it was sent, `aborted` when the connection went first. */
export type ResponseEnd = 'finished' | 'aborted';

/** The pieces of one request. */
export interface ReceivedRequest {
  req: IncomingMessage;
  res: ServerResponse;
  body: string;
}

/** One HTTP request as it was received, and the means to answer it in any way, at any time. */
export class HttpExchange {
  readonly httpMethod: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body as JSON; undefined where it is empty or no JSON. */
  readonly message: unknown;
  /** The JSON-RPC method; else `response`, `batch` or `invalid` for a POST, and the HTTP method for the rest. */
  readonly method: string;
  readonly params: JsonObject;
  readonly id: RpcId | undefined;
  readonly sessionId: string | undefined;
  readonly #host: ExchangeHost;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #end: Promise<ResponseEnd>;

  constructor(host: ExchangeHost, { req, res, body }: ReceivedRequest) {
    this.#host = host;
    this.#req = req;
    this.#res = res;
    this.#end = new Promise((resolve) => {
      res.once('close', () => resolve(res.writableFinished ? 'finished' : 'aborted'));
    });
    res.on('error', () => undefined); // writing to a client that has gone is no fault of the script
    this.httpMethod = req.method ?? '';
    this.path = req.url ?? '';
    this.headers = req.headers;
    this.body = body;
    this.message = parseJson(body);
    this.method = this.httpMethod === 'POST' ? methodOf(this.message) : this.httpMethod;
    this.params = paramsOf(this.message);
    this.id = idOf(this.message);
    this.sessionId = req.headers['mcp-session-id']?.toString();
  }

  get req(): IncomingMessage {
    return this.#req;
  }

  get res(): ServerResponse {
    return this.#res;
  }

  get progressToken(): string | number | undefined {
    return progressTokenOf(this.message);
  }

  get isNotification(): boolean {
    return this.httpMethod === 'POST' && isObject(this.message) && 'method' in this.message && !('id' in this.message);
  }

  /** Answers as if the script had no handler for this method. */
  polite(): Promise<void> {
    return this.#host.answerPolitely(this);
  }

  /** Answers with a JSON-RPC result. */
  json(result: unknown, headers: OutgoingHttpHeaders = {}): void {
    this.#message({ jsonrpc: '2.0', id: this.id, result }, headers);
  }

  /** Answers with a JSON-RPC error and HTTP 200. */
  error(code: number, message: string, data?: unknown): void {
    this.#message({ jsonrpc: '2.0', id: this.id ?? null, error: { code, message, data } });
  }

  /** Answers with any status, headers and body; a Content-Length is added unless the headers have one. */
  raw(status: number, headers: OutgoingHttpHeaders = {}, body: string | Uint8Array = ''): void {
    this.#res.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers }).end(body);
  }

  /** Answers 202 with an empty body. */
  accept(): void {
    this.raw(202);
  }

  /** Opens an event stream; its head is sent at once. */
  sse(headers: OutgoingHttpHeaders = {}): ResponseStream {
    return this.stream(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...headers });
  }

  /** Opens a response of any kind whose body follows in pieces; its head is sent at once. */
  stream(status: number, headers: OutgoingHttpHeaders = {}): ResponseStream {
    this.#res.writeHead(status, headers).flushHeaders();
    return new ResponseStream(this.#res, { id: this.id, progressToken: this.progressToken });
  }

  /** Opens a session; whatever answers this request carries its id. */
  openSession(id?: string): string {
    const sessionId = this.#host.openSession(id);
    this.#res.setHeader('mcp-session-id', sessionId);
    return sessionId;
  }

  /** Never answers. Resolves when the client gives up or the server closes. */
  hang(): Promise<ResponseEnd> {
    return this.#end;
  }

  /** Resets the connection without an answer. */
  destroy(): void {
    this.#req.socket.resetAndDestroy();
  }

  /** Resolves when the response is over or the client went away, and says which. */
  waitForClose(): Promise<ResponseEnd> {
    return this.#end;
  }

  #message(message: JsonObject, headers: OutgoingHttpHeaders = {}): void {
    this.raw(200, { 'content-type': 'application/json', ...headers }, JSON.stringify(message));
  }
}
