import type { CallbackFailure, RequestFailureDetails } from '../request-failure';
import type { MessageListener } from './event-messages';

/** Milliseconds that a server has to end its answer when the reply has come. */
const ANSWER_END_WAIT = 2_000;

/** Why a request is dropped. One for all, because an error keeps what was being called when it was made. */
export const DROPPED = new DOMException('This operation was aborted', 'AbortError');

/** What an exchange tells its transport. */
export interface ExchangeListener extends MessageListener {
  /** The reply can no longer come. */
  lost(failure: RequestFailureDetails | CallbackFailure): void;
  /** Nothing of it is open any more. */
  over(): void;
}

/** One JSON-RPC request that waits for its reply, as the HTTP requests that are made for it know it. */
export class HttpExchange {
  /** Whether the server has refused it, and it waits for other credentials. */
  isRefused = false;
  /** Whether something came on its stream that is no message of the protocol: perhaps the reply. */
  wasMisread = false;

  private readonly end = new AbortController();
  private finished = false;
  private streaming = false;
  private muted = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    readonly id: string | number,
    readonly listener: ExchangeListener,
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

  /** Whether nothing that comes for it is to be told. */
  get isMuted(): boolean {
    return this.muted;
  }

  /** The request has been answered, though an event stream may go on. */
  answered(): void {
    if (!this.streaming) this.over();
  }

  streamStarted(): void {
    this.streaming = true;
  }

  streamEnded(): void {
    this.streaming = false;
    this.over();
  }

  /**
   * The reply has come, in its own answer or elsewhere; what is kept open nevertheless is dropped after a while. A reply
   * in its own answer that is no stream is all of it.
   */
  finish(isOwn: boolean): void {
    this.finished = true;
    if (this.streaming || !isOwn) this.timer = setTimeout(() => this.end.abort(DROPPED), ANSWER_END_WAIT).unref();
  }

  /**
   * Has nothing more told that comes for it. What is open ends as before: a server that ends its answer in a moment keeps
   * the connection for the next request.
   */
  mute(): void {
    this.muted = true;
  }

  /** Drops what is still open for it. */
  drop(): void {
    this.finished = true;
    this.end.abort(DROPPED);
  }

  /** Tells that the reply can no longer come; no effect on a finished exchange. */
  lose(failure: RequestFailureDetails | CallbackFailure): void {
    if (this.finished) return;
    this.finished = true;
    this.listener.lost(failure);
  }

  private over(): void {
    clearTimeout(this.timer);
    this.listener.over();
  }
}

/** A fetch that is told the exchange which a request is made for, if there is one. */
export type ExchangeFetch = (
  url: string | URL,
  init: RequestInit | undefined,
  exchange: HttpExchange | undefined,
) => Promise<Response>;
