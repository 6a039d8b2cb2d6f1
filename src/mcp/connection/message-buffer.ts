import { deserializeMessage, ReadBuffer } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { StringDecoder } from 'node:string_decoder';
import { RequestFailure } from '../request-failure';
import { JsonDepth, tooDeep } from './json-depth';
import { MOST_IN_A_TURN } from './turns';

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** What is told of messages that never become any. */
export interface MessageBufferEvents {
  /** A message is over a limit. */
  readonly onBreach: (failure: RequestFailure) => void;
  /** The reply to the request of this id cannot be read. */
  readonly onMisread: (id: string | number) => void;
  /** A line is no message. */
  readonly onStray: (line: string) => void;
  /** More messages wait than are read in a turn: `readMessage` is to be called again when another one has begun. */
  readonly onPause: () => void;
}

/**
 * Bounds each message of a child, where the SDK's buffer bounds what happens to be in it. What comes is kept as text and not
 * as bytes: to put these together takes fresh memory for each message, and half as long as parsing it.
 */
export class MessageBuffer extends ReadBuffer {
  private lines: string[] = [];
  private next = 0;
  private leftOfTurn = MOST_IN_A_TURN;
  private readonly decoder = new StringDecoder('utf8');
  /** What has come of the line, and how many bytes it is. */
  private text = '';
  private length = 0;
  private readonly depth = new JsonDepth();

  constructor(
    private readonly maxMessageBytes: number,
    private readonly events: MessageBufferEvents,
  ) {
    super();
  }

  override append(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      if (!this.isBlank(chunk, start, end)) {
        this.extend(chunk.subarray(start, end));
        const line = (this.text + this.decoder.end()).replace(/\r$/, '');
        if (line !== '') this.lines.push(line);
        this.beginLine();
      }
      start = end + 1;
    }
    this.extend(chunk.subarray(start));
  }

  override readMessage(): JSONRPCMessage | null {
    const line = this.lines[this.next];
    if (line === undefined) {
      this.forgetLines();
      return null;
    }
    if (this.leftOfTurn === 0) {
      this.events.onPause();
      return null;
    }
    this.leftOfTurn -= 1;
    this.next += 1;
    try {
      return deserializeMessage(line);
    } catch (error) {
      this.events.onStray(line);
      const id = line.startsWith('{') ? replyId(line) : undefined;
      if (id !== undefined) this.events.onMisread(id);
      throw error;
    }
  }

  /** Another turn has begun, in which so many messages are read. */
  beginTurn(messages: number): void {
    this.leftOfTurn = messages;
  }

  override clear(): void {
    this.forgetLines();
    this.decoder.end();
    this.beginLine();
  }

  private forgetLines(): void {
    this.lines = [];
    this.next = 0;
  }

  /** A child may send any number of blank lines, and nothing else of them costs as little as an index. */
  private isBlank(chunk: Buffer, start: number, end: number): boolean {
    return this.length === 0 && (end === start || (end === start + 1 && chunk[start] === CARRIAGE_RETURN));
  }

  private beginLine(): void {
    this.text = '';
    this.length = 0;
    this.depth.reset();
  }

  private extend(part: Buffer): void {
    this.length += part.length;
    const isTooLong = this.length > this.maxMessageBytes;
    if (!isTooLong && !this.depth.exceeds(part)) return void (this.text += this.decoder.write(part));
    this.text = '';
    const failure = isTooLong ? this.tooLong() : tooDeep('a message');
    this.events.onBreach(failure);
    throw failure;
  }

  private tooLong(): RequestFailure {
    const message = `the server sent a message of more than ${this.maxMessageBytes} bytes (limit maxMessageBytes)`;
    return new RequestFailure({ kind: 'limit', message });
  }
}

/** The id of what looks like a reply. */
function replyId(line: string): string | number | undefined {
  try {
    const { id, method } = Object(JSON.parse(line)) as { id?: unknown; method?: unknown };
    return method === undefined && (typeof id === 'string' || typeof id === 'number') ? id : undefined;
  } catch {
    return undefined;
  }
}
