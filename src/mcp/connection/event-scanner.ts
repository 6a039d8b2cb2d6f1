const LINE_FEED = 10;
const LONGEST_FIELD = 1_024;

/** Follows an event stream (HTML standard, Server-sent events) without keeping it. */
export class EventScanner {
  /** Id of the last complete event that had one: where the stream can be resumed. */
  lastEventId: string | undefined;
  /** Milliseconds that the server wants to pass before the stream is resumed. */
  retry: number | undefined;

  private eventBytes = 0;
  private line: Buffer = Buffer.alloc(0);
  private lineBytes = 0;
  private pendingId: string | undefined;

  /** Takes a chunk in and returns the length in bytes of the longest event that a part of it belongs to. */
  longest(chunk: Uint8Array): number {
    let longest = 0;
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.extendLine(chunk.subarray(start, end));
      longest = Math.max(longest, this.eventBytes);
      this.endLine();
      start = end + 1;
    }
    this.extendLine(chunk.subarray(start));
    return Math.max(longest, this.eventBytes);
  }

  /** Forgets the event that a broken stream did not complete. */
  breakOff(): void {
    this.endEvent();
    this.pendingId = undefined;
    this.line = Buffer.alloc(0);
    this.lineBytes = 0;
  }

  private extendLine(part: Uint8Array): void {
    const room = LONGEST_FIELD - this.line.length;
    if (room > 0 && part.length > 0) this.line = Buffer.concat([this.line, part.subarray(0, room)]);
    this.lineBytes += part.length;
    this.eventBytes += part.length;
  }

  private endLine(): void {
    if (this.lineBytes === 0) return this.completeEvent();
    const text = this.lineBytes <= LONGEST_FIELD ? this.line.toString('utf8').replace(/\r$/, '') : 'data:';
    const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(text) ?? [];
    if (text === '') {
      this.completeEvent();
    } else if (field === 'id' && value !== undefined && value !== '') {
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
  }
}
