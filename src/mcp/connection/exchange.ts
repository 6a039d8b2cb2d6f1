import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestFailureDetails } from '../request-failure';

/** Milliseconds that a server has to end a stream whose reply has come. */
const STREAM_END_WAIT = 2_000;

/** One JSON-RPC request that waits for its reply, as the HTTP requests that are made for it know it. */
export class HttpExchange {
  private readonly end = new AbortController();
  private finished = false;
  private streaming = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly onLost: (failure: RequestFailureDetails) => void,
    private readonly onStreamEnd: () => void,
  ) {}

  /** Aborts when what is still open for the exchange is to be dropped. */
  get signal(): AbortSignal {
    return this.end.signal;
  }

  /** Whether nothing waits for the reply any more: it came, or it was given up. */
  get isFinished(): boolean {
    return this.finished;
  }

  /** Whether an event stream is open for it. */
  get isStreaming(): boolean {
    return this.streaming;
  }

  streamStarted(): void {
    this.streaming = true;
  }

  streamEnded(): void {
    this.streaming = false;
    clearTimeout(this.timer);
    this.onStreamEnd();
  }

  /** The reply has come; a stream that is kept open nevertheless is dropped after a while. */
  finish(): void {
    this.finished = true;
    if (this.streaming) this.timer = setTimeout(() => this.end.abort(), STREAM_END_WAIT).unref();
  }

  /** Drops what is still open for it. */
  drop(): void {
    this.finished = true;
    this.end.abort();
  }

  /** Tells that the reply can no longer come; no effect on a finished exchange. */
  lose(failure: RequestFailureDetails): void {
    if (this.finished) return;
    this.finished = true;
    this.onLost(failure);
  }
}

/** The exchange that the current HTTP request is made for. */
export const currentExchange = new AsyncLocalStorage<HttpExchange | undefined>();
