import { Readable } from 'node:stream';
import { asError } from '../../run/abort';

/** What is read of a body. */
export type Body = AsyncIterable<Uint8Array>;

/** The highest status that a `Response` can be made with. */
export const HIGHEST_STATUS = 599;

/** Refusals that say nothing of the next request: too slow, a stream whose end the server has not noticed, too many. */
const PASSING = new Set([408, 409, 429]);

const BareResponse = Response as new (body: null, init: ResponseInit) => Omit<Response, 'status' | 'body'>;

/**
 * A response whose body is a stream of Node.js, which becomes a web stream for whoever asks for one. Few do, and to make
 * one takes about as long as to read a short answer.
 */
export class StreamedResponse extends BareResponse {
  private stream: Response['body'] | undefined;

  constructor(
    private readonly code: number,
    headers: Headers,
    readonly source: Readable,
  ) {
    super(null, { status: Math.min(code, HIGHEST_STATUS), headers });
    // What breaks is told to whoever reads; that nobody does is no reason to end the process.
    source.on('error', () => undefined);
  }

  get status(): number {
    return this.code;
  }

  get body(): Response['body'] {
    return (this.stream ??= Readable.toWeb(this.source) as Response['body']);
  }
}

/** The media type of a response, in lower case and without parameters. */
export function mediaType(response: Response): string {
  return (response.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** The body of a response, which may be none. */
export function bodyOf(response: Response): Body {
  return response instanceof StreamedResponse ? response.source : ((response.body as Body | null) ?? noBody());
}

/** Lets go of the body of a response that nobody reads. */
export function discard(response: Response): void {
  readerOf(bodyOf(response)).stop();
}

/** A chunk as a buffer, in which a byte is found thirty times as fast. */
export function bufferOf(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

export interface BodyReader {
  readonly read: () => Promise<IteratorResult<Uint8Array, unknown>>;
  /** Ends the reading, also one that waits; no effect on a body that has been read. */
  readonly stop: () => void;
}

/** How a body is read; one that cannot be, because the application's `fetch` has read it, says so when it is read. */
export function readerOf(body: Body): BodyReader {
  try {
    return unguardedReaderOf(body);
  } catch (error) {
    return { read: () => Promise.reject(asError(error)), stop: () => undefined };
  }
}

function unguardedReaderOf(body: Body): BodyReader {
  // Its reader costs half of what its iterator does.
  if (body instanceof ReadableStream) {
    const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    return { read: () => reader.read(), stop: () => void reader.cancel().catch(() => undefined) };
  }
  const iterator = body[Symbol.asyncIterator]();
  const end = async (): Promise<unknown> => (body instanceof Readable ? body.destroy() : iterator.return?.());
  // A body of the application's `fetch` may throw also when nobody wants it any more.
  const stop = (): void => void end().catch(() => undefined);
  return { read: () => iterator.next(), stop };
}

export async function* noBody(): Body {
  // No chunk.
}

/** Whether it is of no use to ask for a stream again: there is no such stream, or not for whoever asks. */
export function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && !PASSING.has(status);
}
