import { pipeline, Readable, type Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { StreamedResponse } from './response-body';

/** Names and values of headers in turn, as they came over the wire. */
export type RawHeaders = readonly (RawText | readonly RawText[])[];
type RawText = Buffer | string;

/** Each of them takes memory before anything is read. */
const MOST_CODINGS = 3;

const zlib = { finishFlush: constants.Z_SYNC_FLUSH };
const brotli = { finishFlush: constants.BROTLI_OPERATION_FLUSH };
/** Like browsers and curl they forgive a body that lacks the end of its compression. */
const DECODERS = new Map<string, () => Transform>([
  ['gzip', () => createGunzip(zlib)],
  ['x-gzip', () => createGunzip(zlib)],
  ['deflate', () => createInflate(zlib)],
  ['br', () => createBrotliDecompress(brotli)],
]);

/** Why the rest of a body is not wanted. One for all: an error keeps what was being called when it was made. */
const UNREAD = new Error('nobody reads it');

interface AnswerListener {
  readonly resolve: (response: Response) => void;
  readonly reject: (reason: unknown) => void;
}

/** What a dispatcher of undici tells of one request (undici, Dispatcher, dispatch), as the response that comes of it. */
export class DirectAnswer {
  private abort: ((reason: unknown) => void) | undefined;
  /** As it comes. */
  private body: Readable | undefined;
  /** As it is read. */
  private source: Readable | undefined;
  private readonly leave: () => void;

  constructor(
    private readonly signal: AbortSignal | undefined,
    private readonly listener: AnswerListener,
  ) {
    const drop = (): void => this.drop(signal?.reason);
    this.leave = () => signal?.removeEventListener('abort', drop);
    signal?.addEventListener('abort', drop, { once: true });
  }

  onConnect(abort: (reason: unknown) => void): void {
    this.abort = abort;
    if (this.signal?.aborted) abort(this.signal.reason);
  }

  onHeaders(status: number, rawHeaders: RawHeaders, resume: () => void): boolean {
    if (status < 200) return true;
    const headers = received(rawHeaders);
    this.body = new Readable({
      read: resume,
      destroy: (error, done) => {
        this.abort?.(error ?? UNREAD);
        done(error);
      },
    });
    this.source = decoded(this.body, headers);
    this.source.once('close', this.leave);
    // Compression may end before the body does, the rest of which nobody reads; Node.js 24 leaves it open.
    if (this.source !== this.body) this.source.once('end', () => this.body?.destroy());
    this.listener.resolve(new StreamedResponse(status, headers, this.source));
    return true;
  }

  onData(chunk: Uint8Array): boolean {
    return this.body?.push(chunk) === true;
  }

  onComplete(): void {
    this.body?.push(null);
  }

  onError(error: Error): void {
    if (this.body) this.body.destroy(error);
    else this.fail(error);
  }

  /** It never came to a response. */
  fail(error: unknown): void {
    this.leave();
    this.listener.reject(this.signal?.aborted ? this.signal.reason : new TypeError('fetch failed', { cause: error }));
  }

  private drop(reason: unknown): void {
    this.listener.reject(reason);
    this.source?.destroy(reason as Error);
    this.abort?.(reason);
  }
}

/** The headers of an answer, but for those that a `Response` cannot have. */
function received(raw: RawHeaders): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = textOf(raw[index] as RawText);
    const values = raw[index + 1] as RawText | readonly RawText[];
    for (const value of isList(values) ? values : [values]) append(headers, name, value);
  }
  return headers;
}

function isList(values: RawText | readonly RawText[]): values is readonly RawText[] {
  return Array.isArray(values);
}

function append(headers: Headers, name: string, value: RawText): void {
  try {
    headers.append(name, textOf(value));
  } catch {
    // Nobody asks for a header of such a name or value.
  }
}

function textOf(raw: RawText): string {
  return typeof raw === 'string' ? raw : raw.toString('latin1');
}

/** The body without what was done to it on the way; as it is where that cannot be undone. */
function decoded(body: Readable, headers: Headers): Readable {
  const given = headers.get('content-encoding')?.toLowerCase().split(',') ?? [];
  const names = given.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity');
  const decoders = names.reverse().flatMap((name) => DECODERS.get(name) ?? []);
  if (decoders.length < names.length || decoders.length > MOST_CODINGS) return body;
  return decoders.reduce<Readable>((read, decoder) => pipeline(read, decoder(), () => undefined), body);
}
