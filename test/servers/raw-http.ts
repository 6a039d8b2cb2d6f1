import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HttpExchange } from './http-exchange';
import { LiveSet } from './live-set';
import { answer, answerPolitely, type RawHttpScript, type SessionBook } from './polite-http';
import { Recorder } from './recorder';
import type { CallParams } from './rpc';
import { servers, throwFaults } from './server-registry';

/** How the server deals with connections. */
export interface RawHttpOptions {
  /** False: every connection ends after one response, so that no idle socket stays. Default true. */
  keepAlive?: boolean;
}

/** Starts a server that speaks MCP over Streamable HTTP as politely or as rudely as the script says. */
export async function startRawHttp(script: RawHttpScript = {}, options: RawHttpOptions = {}): Promise<RawHttpServer> {
  const server = new RawHttpServer(script, options);
  await server.start();
  servers.add(server);
  return server;
}

/** A scripted HTTP server on 127.0.0.1; made by {@link startRawHttp}. */
export class RawHttpServer {
  /** The script in force; assign another, or change it, and the next request is answered by it. */
  script: RawHttpScript;
  /** The ids of the sessions that clients ended by DELETE. */
  readonly deleted: string[] = [];
  /** What handlers threw; `close` throws it, so that a mistake in a script fails its test. */
  readonly faults: unknown[] = [];
  readonly #server = createServer((req, res) => void this.#serve(req, res));
  readonly #sockets = new LiveSet<Socket>();
  readonly #exchanges = new LiveSet<HttpExchange>();
  readonly #recorder = new Recorder<HttpExchange>();
  readonly #sessions = new Set<string>();
  readonly #keepAlive: boolean;
  #sessionEverOpened = false;
  #port = 0;
  #closing: Promise<void> | undefined;

  constructor(script: RawHttpScript, options: RawHttpOptions) {
    this.script = script;
    this.#keepAlive = options.keepAlive ?? true;
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** The address of the MCP endpoint; other paths of the same origin are served alike. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`;
  }

  /** Connection options for a toolset. */
  get connection(): { url: string; allowInsecureHttp: true } {
    return { url: this.url, allowInsecureHttp: true };
  }

  /** Every request since the start, in the order of arrival; each can still be answered or waited for. */
  get requests(): readonly HttpExchange[] {
    return this.#recorder.items;
  }

  /** The parameters of every `tools/call`. */
  get calls(): CallParams[] {
    return this.requests.filter(({ method }) => method === 'tools/call').map(({ params }) => params as CallParams);
  }

  /** Every notification of a client. */
  get notifications(): HttpExchange[] {
    return this.requests.filter((exchange) => exchange.isNotification);
  }

  /** The ids of the open sessions. */
  get sessions(): string[] {
    return [...this.#sessions];
  }

  /** How many clients' sockets are open, idle ones included. */
  get openSockets(): number {
    return this.#sockets.size;
  }

  /** How many requests are not answered to the end, open event streams included. */
  get openRequests(): number {
    return this.#exchanges.size;
  }

  /** The `count`-th request of this method, or that satisfies this predicate, as soon as it has arrived. */
  waitFor(what: string | ((exchange: HttpExchange) => boolean), count?: number): Promise<HttpExchange> {
    return this.#recorder.waitFor(what, count);
  }

  /** Resolves when no client's socket is open. Idle ones stay for seconds, unless `keepAlive` is false. */
  waitForNoSockets(): Promise<void> {
    return this.#sockets.whenEmpty();
  }

  /** Resolves when every request is answered to the end or given up. */
  waitForNoRequests(): Promise<void> {
    return this.#exchanges.whenEmpty();
  }

  /** Forgets every session: the next request with an old id is answered 404. */
  forgetSessions(): void {
    this.#sessions.clear();
  }

  /** Listens, again on the same port after `stop`. */
  async start(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Closes every socket, forgets the sessions and listens no more: connections are refused until `start`. */
  async stop(): Promise<void> {
    this.forgetSessions();
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all([closed, this.#sockets.whenEmpty(), this.#exchanges.whenEmpty()]);
    await nextTurn(); // a client in this process must not send its next request over a socket that is gone
    await nextTurn();
  }

  /** Stops and starts again on the same port, as a redeployed server does. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Closes everything that is open. Throws what handlers threw. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    servers.delete(this);
    await this.stop();
    this.#recorder.close();
    throwFaults(this.faults);
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await bodyOf(req);
    if (body === undefined) return;
    res.shouldKeepAlive &&= this.#keepAlive;
    const exchange = new HttpExchange(this.#host, { req, res, body });
    this.#exchanges.add(exchange);
    void exchange.waitForClose().then(() => this.#exchanges.delete(exchange));
    this.#recorder.add(exchange);
    try {
      await answer(exchange, this.script, this.#book);
    } catch (fault) {
      this.faults.push(fault);
      if (!res.headersSent) exchange.raw(500, { 'content-type': 'text/plain' }, 'A handler of the script threw.');
    }
  }

  readonly #host = {
    openSession: (id: string = randomUUID()): string => {
      this.#sessionEverOpened = true;
      this.#sessions.add(id);
      return id;
    },
    answerPolitely: (exchange: HttpExchange): Promise<void> => answerPolitely(exchange, this.script, this.#book),
  };

  get #book(): SessionBook {
    return {
      has: (id) => this.#sessions.has(id),
      everOpened: this.#sessionEverOpened,
      end: (id) => void (this.#sessions.delete(id) && this.deleted.push(id)),
    };
  }
}

async function bodyOf(req: IncomingMessage): Promise<string | undefined> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString();
  } catch {
    return undefined; // the client went away in the middle of its own request
  }
}
