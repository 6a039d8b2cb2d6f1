import { JsonDepth } from './json-depth';
import { bufferOf } from './response-body';
import { MOST_LINES_IN_A_TURN } from './turns';

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const LONGEST_FIELD = 1_024;
const FEED = Buffer.from('\n');
const DATA = Buffer.from('data:');
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** Follows an event stream (HTML standard, Server-sent events) without keeping it. */
export class EventScanner {
  /** Id of the last complete event that had one: where the stream can be resumed. */
  lastEventId: string | undefined;
  /** Milliseconds that the server wants to pass before the stream is resumed. */
  retry: number | undefined;
  /** Whether the data of an event, which are JSON, were nested too deep to be parsed. */
  isTooDeep = false;
  /** What was taken in last, with no line end in two parts, for a reader would wait for what follows a CR, and no mark. */
  lines: Buffer = Buffer.alloc(0);
  /** Where in it a turn of reading ends. */
  readonly turns: number[] = [];

  private readonly depth = new JsonDepth();
  /** A reader may skip more before the first line than the mark, so that line is looked into whatever it is. */
  private isFirstLine = true;
  private isAtStart = true;
  /** Bytes of a mark that have come. */
  private markBytes = 0;
  private isAfterReturn = false;
  private eventBytes = 0;
  private linesOfTurn = 0;
  private line: Buffer = Buffer.alloc(0);
  private lineBytes = 0;
  private pendingId: string | undefined;

  /** Takes a chunk in and returns the length in bytes of the longest event that a part of it belongs to. */
  longest(bytes: Uint8Array): number {
    const chunk = bufferOf(bytes);
    this.turns.length = 0;
    let longest = 0;
    const skipped = this.skippedOf(chunk);
    const whole = chunk.at(-1) === CARRIAGE_RETURN ? Buffer.concat([chunk, FEED]) : chunk;
    this.lines = skipped > 0 ? whole.subarray(skipped) : whole;
    let start = skipped;
    let feed = chunk.indexOf(LINE_FEED, start);
    let carriage = chunk.indexOf(CARRIAGE_RETURN, start);
    while (feed !== -1 || carriage !== -1) {
      const isReturn = feed === -1 || (carriage !== -1 && carriage < feed);
      const end = isReturn ? carriage : feed;
      this.extendLine(chunk.subarray(start, end));
      longest = Math.max(longest, this.eventBytes);
      this.endLine();
      start = isReturn && feed === end + 1 ? end + 2 : end + 1;
      this.linesOfTurn += 1;
      if (this.linesOfTurn === MOST_LINES_IN_A_TURN) {
        this.turns.push(start - skipped);
        this.linesOfTurn = 0;
      }
      // Looked for again only behind the last one, so that no byte is looked at twice.
      if (feed !== -1 && feed < start) feed = chunk.indexOf(LINE_FEED, start);
      if (carriage !== -1 && carriage < start) carriage = chunk.indexOf(CARRIAGE_RETURN, start);
    }
    this.extendLine(chunk.subarray(start));
    if (chunk.length > 0) this.isAfterReturn = chunk.at(-1) === CARRIAGE_RETURN;
    return Math.max(longest, this.eventBytes);
  }

  /**
   * Forgets the event that a broken stream did not complete, and returns what makes it one of a type that no reader looks
   * at; a server sends it again.
   */
  breakOff(): Buffer {
    const rest = Buffer.from(`${this.lineBytes > 0 ? '\n' : ''}event: broken-off\n\n`);
    this.endEvent();
    this.isAfterReturn = false;
    this.isFirstLine = this.isAtStart = true;
    this.markBytes = 0;
    this.line = Buffer.alloc(0);
    this.lineBytes = 0;
    return rest;
  }

  /** The bytes of a chunk that are no part of a line: a mark at the beginning of a stream, or the rest of a line end. */
  private skippedOf(chunk: Buffer): number {
    let skipped = 0;
    while (this.isAtStart && skipped < chunk.length) {
      this.isAtStart = chunk[skipped] === BYTE_ORDER_MARK[this.markBytes];
      if (!this.isAtStart) break;
      skipped += 1;
      this.markBytes += 1;
    }
    if (skipped > 0) return skipped;
    return this.isAfterReturn && chunk[0] === LINE_FEED ? 1 : 0;
  }

  private extendLine(part: Buffer): void {
    const room = LONGEST_FIELD - this.line.length;
    const piece = part.length > room ? part.subarray(0, room) : part;
    this.line = this.line.length === 0 ? piece : Buffer.concat([this.line, piece]);
    this.lineBytes += part.length;
    this.eventBytes += part.length;
    // Nothing is lost with the pieces of a line that came before it was known to hold data: they were its name.
    const isData = this.isFirstLine || this.line.subarray(0, DATA.length).equals(DATA);
    if (isData && this.depth.exceeds(part)) this.isTooDeep = true;
  }

  private endLine(): void {
    this.isFirstLine = false;
    this.depth.endLine();
    if (this.lineBytes === 0) return this.completeEvent();
    const text = this.lineBytes <= LONGEST_FIELD ? this.line.toString('utf8') : 'data:';
    const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(text) ?? [];
    if (field === 'id' && value !== undefined && value !== '' && !value.includes('\0')) {
      this.pendingId = value;
    } else if (field === 'retry' && /^\d+$/.test(value ?? '')) {
      this.retry = Number(value);
    }
    this.line = Buffer.alloc(0);
    this.lineBytes = 0;
  }

  private completeEvent(): void {
    this.lastEventId = this.pendingId ?? this.lastEventId;
    this.endEvent();
  }

  private endEvent(): void {
    this.eventBytes = 0;
    this.pendingId = undefined;
    this.depth.reset();
  }
}
