import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { servers, type StartedServer } from '../servers';

/** A request as an API sees it. */
export interface ApiRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

/** What an endpoint is: the provider's published rules, and what it answers. */
export interface ApiScript {
  /** What is wrong with a request; the endpoint answers 400 with it, as the API does, and the test fails by the SDK's error. */
  readonly faults: (request: ApiRequest) => readonly string[];
  /** The model's turns, one for each request; the last one again for all further requests. */
  readonly turns: readonly unknown[];
}

/** A model's API on 127.0.0.1, whose model says what the script says. */
export class ScriptedApi implements StartedServer {
  readonly requests: ApiRequest[] = [];
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
      const received: ApiRequest = { path: request.url ?? '', headers: request.headers, body };
      const faults = [...this.script.faults(received), ...loneSurrogates(body)];
      const turn = this.script.turns[Math.min(this.requests.length, this.script.turns.length - 1)];
      this.requests.push(received);
      const error = { type: 'error', error: { type: 'invalid_request_error', message: faults.join('; ') } };
      // `connection: close`, so that no idle socket of the SDK's stays.
      response.writeHead(faults.length > 0 ? 400 : 200, { 'content-type': 'application/json', connection: 'close' });
      response.end(JSON.stringify(faults.length > 0 ? error : turn));
    });
  });

  constructor(private readonly script: ApiScript) {}

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The body of the last request. */
  get last(): Record<string, unknown> {
    return this.requests.at(-1)?.body ?? {};
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    servers.add(this);
    return this;
  }

  async close(): Promise<void> {
    servers.delete(this);
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** Strings that are no Unicode: the APIs refuse a body that has one. */
function loneSurrogates(body: unknown): string[] {
  const found: string[] = [];
  JSON.stringify(body, (key, value: unknown) => {
    if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed()))
      found.push('no low surrogate in string');
    return value;
  });
  return found;
}
