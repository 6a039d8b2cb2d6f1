import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject, RpcId } from './rpc';

/** The fields of one server-sent event besides its data. */
export interface EventFields {
  id?: string;
  event?: string;
  retry?: number;
}

/** The request that a stream answers. */
export interface StreamedRequest {
  id: RpcId | undefined;
  progressToken: string | number | undefined;
}

/** A response that the script sends piece by piece: an event stream, or a body without a Content-Length. */
export class ResponseStream {
  readonly #res: ServerResponse;
  readonly #request: StreamedRequest;
  #written: Promise<void> = Promise.resolve();

  constructor(res: ServerResponse, request: StreamedRequest) {
    this.#res = res;
    this.#request = request;
  }

  /** Sends one event; a string goes out as it is, anything else as JSON. */
  event(data: unknown, fields: EventFields = {}): this {
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\n`);
    const body = typeof data === 'string' ? data : JSON.stringify(data);
    for (const line of body.split('\n')) lines.push(`data: ${line}\n`);
    return this.write(`${lines.join('')}\n`);
  }

  /** Sends the result of the request that this stream answers; the stream stays open. */
  reply(result: unknown, fields?: EventFields): this {
    return this.event({ jsonrpc: '2.0', id: this.#request.id, result }, fields);
  }

  /** Sends a JSON-RPC error for the request that this stream answers; the stream stays open. */
  error(code: number, message: string, data?: unknown): this {
    return this.event({ jsonrpc: '2.0', id: this.#request.id, error: { code, message, data } });
  }

  /** Sends a notification to the client. */
  notify(method: string, params?: JsonObject): this {
    return this.event({ jsonrpc: '2.0', method, params });
  }

  /** Sends a request to the client; its answer arrives as a request of method `response`. */
  request(id: RpcId, method: string, params?: JsonObject): this {
    return this.event({ jsonrpc: '2.0', id, method, params });
  }

  /** Reports progress under the token that the client gave. */
  progress(progress: number, total?: number): this {
    return this.notify('notifications/progress', { progressToken: this.#request.progressToken, progress, total });
  }

  /** Sends text or bytes as they are. */
  write(chunk: string | Uint8Array): this {
    const sent = new Promise<void>((resolve) => this.#res.write(chunk, () => resolve()));
    this.#written = Promise.all([this.#written, sent]).then(() => undefined);
    return this;
  }

  /** Resolves when the client has room for more, or has gone; await it between the pieces of something endless. */
  async drained(): Promise<void> {
    await nextTurn(); // also a script that never pauses lets others act
    if (!this.#res.writableNeedDrain || this.closed) return;
    const stop = new AbortController();
    const { signal } = stop;
    const events = ['drain', 'close'].map((name) => once(this.#res, name, { signal }).catch(() => undefined));
    await Promise.race(events);
    stop.abort();
  }

  /** Ends the response properly. */
  end(): void {
    this.#res.end();
  }

  /** Resets the connection in the middle of the response, after what was written has left. */
  async destroy(): Promise<void> {
    await this.#written;
    this.#res.socket?.resetAndDestroy();
  }

  /** Whether the client can no longer be reached on this stream. */
  get closed(): boolean {
    return this.#res.destroyed || this.#res.closed;
  }
}
