import { RequestFailure } from '../request-failure';

/** Levels of objects and arrays that a message may have; those that mean something have some ten. */
const MOST_LEVELS = 1_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Of brackets and braces they differ in one bit, so both are looked for at once. */
const EITHER = 0xdf;
const OPENING = 0x5b;
const CLOSING = 0x5d;
/** From so many bytes on it is quicker to look for the end of a string than at each byte of it. */
const SHORT_STRING = 64;

/**
 * Tells how deep a JSON text is nested from its bytes, as they come and before it is parsed: parsing what is nested a
 * million levels deep keeps the process from everything else for seconds. Up to the first mistake in the text it knows
 * exactly, and no parser gets further.
 */
export class JsonDepth {
  private levels = 0;
  private inString = false;
  private isEscaped = false;

  /** Takes the next bytes in and returns whether the text is nested too deep, which it then stays until `reset`. */
  exceeds(chunk: Buffer): boolean {
    for (let at = 0; at < chunk.length;) at = this.inString ? this.afterString(chunk, at) : this.atString(chunk, at);
    return this.levels > MOST_LEVELS;
  }

  /** A line has ended, and so has a string, which cannot hold the end of one. */
  endLine(): void {
    this.inString = false;
    this.isEscaped = false;
  }

  /** Another text begins. */
  reset(): void {
    this.endLine();
    this.levels = 0;
  }

  private atString(chunk: Buffer, start: number): number {
    let { levels } = this;
    let at = start;
    for (; at < chunk.length; at += 1) {
      const byte = chunk[at]!;
      if (byte === QUOTE) {
        this.inString = true;
        at += 1;
        break;
      }
      if ((byte & EITHER) === OPENING) {
        levels += 1;
        if (levels > MOST_LEVELS) levels = Infinity;
      } else if ((byte & EITHER) === CLOSING && levels > 0) {
        levels -= 1;
      }
    }
    this.levels = levels;
    return at;
  }

  private afterString(chunk: Buffer, start: number): number {
    const short = Math.min(start + SHORT_STRING, chunk.length);
    let at = this.isEscaped ? start + 1 : start;
    for (; at < short; at += 1) {
      const byte = chunk[at];
      if (byte === QUOTE) {
        this.inString = false;
        this.isEscaped = false;
        return at + 1;
      }
      if (byte === BACKSLASH) at += 1; // whatever follows it
    }
    this.isEscaped = at > chunk.length;
    return at < chunk.length ? this.atNextQuote(chunk, at) : chunk.length;
  }

  /** Where a string ends, or another quote stands in it; whether that is escaped is told by the backslashes before it. */
  private atNextQuote(chunk: Buffer, start: number): number {
    const quote = chunk.indexOf(QUOTE, start);
    const end = quote === -1 ? chunk.length : quote;
    let unescaped = end;
    while (unescaped > start && chunk[unescaped - 1] === BACKSLASH) unescaped -= 1;
    this.isEscaped = (end - unescaped) % 2 === 1;
    return end;
  }
}

/** The failure of a request whose answer, `what`, is nested too deep. */
export function tooDeep(what: string): RequestFailure {
  const message =
    `the server sent ${what} that is nested more than ${MOST_LEVELS} levels deep, which is not read, whatever the ` +
    'options: have the server send less of the structure, or send it as text';
  return new RequestFailure({ kind: 'limit', message });
}
