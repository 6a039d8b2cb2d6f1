import { StringDecoder } from 'node:string_decoder';
import { setTimeout } from 'node:timers/promises';
import { messageOf } from '../../errors';
import { CallbackFailure, RequestFailure, type RequestFailureDetails } from '../request-failure';
import { EventScanner } from './event-scanner';
import type { HttpExchange } from './exchange';
import { JsonDepth, tooDeep } from './json-depth';
import { bodyOf, bufferOf, discard, mediaType, readerOf, type Body, type BodyReader } from './response-body';
import { inTurns } from './turns';

const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 30_000;
/** The shortest wait grows from the first of these to the second. */
const SHORTEST_WAIT = 20;
const SHORT_WAIT = 250;
const MOST_FAILED_RESUMPTIONS = 2;
/** Messages in one body, where one is due; a batch of them is of an older protocol version. */
const MOST_MESSAGES = 1_000;
/** At the beginning of a body it is no part of the text (Fetch standard, UTF-8 decode). */
const BYTE_ORDER_MARK = '\ufeff';
/** Milliseconds that the beginning of a page is waited for. */
const BEGINNING_WAIT = 1_000;

/**
 * A response that fails when it is read as text or JSON and its body has more than `maxBytes` bytes, is nested too deep to
 * be parsed, or holds too many messages.
 * @throws RequestFailure when it says so beforehand
 */
export function bounded(response: Response, maxBytes: number): Response {
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes) {
    discard(response);
    throw tooLarge('a body', maxBytes);
  }
  const text = (): Promise<string> => textWithin(bodyOf(response), maxBytes);
  const json = async (): Promise<unknown> => {
    const message = JSON.parse(await text()) as unknown;
    if (Array.isArray(message) && message.length > MOST_MESSAGES) throw tooMany(message.length);
    return message;
  };
  return Object.defineProperties(response, { text: { value: text }, json: { value: json } });
}

/** The beginning of a body as text: of its first `maxBytes` bytes those that come soon. */
export async function beginning(response: Response, maxBytes: number): Promise<string> {
  const { read, stop } = readerOf(bodyOf(response));
  const timer = globalThis.setTimeout(stop, BEGINNING_WAIT);
  const chunks: Uint8Array[] = [];
  let left = maxBytes;
  try {
    for (let next = await read(); !next.done; next = await read()) {
      chunks.push(next.value.subarray(0, left));
      left -= next.value.byteLength;
      if (left <= 0) break;
    }
  } catch {
    // The connection broke; what has come may tell something.
  }
  clearTimeout(timer);
  stop();
  return Buffer.concat(chunks).toString('utf8').toWellFormed();
}

async function textWithin(body: Body, maxBytes: number): Promise<string> {
  const decoder = new StringDecoder('utf8');
  const depth = new JsonDepth();
  const { read, stop } = readerOf(body);
  let text = '';
  let total = 0;
  for (let next = await read(); !next.done; next = await read()) {
    const chunk = bufferOf(next.value);
    total += chunk.length;
    if (total > maxBytes || depth.exceeds(chunk)) {
      stop();
      throw total > maxBytes ? tooLarge('a body', maxBytes) : tooDeep('a body');
    }
    text += decoder.write(chunk);
  }
  text += decoder.end();
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** What the event stream of an exchange needs to be followed to its reply. */
export interface EventStreamOptions {
  readonly exchange: HttpExchange;
  readonly maxBytes: number;
  /** Asks the server to go on after an event. */
  readonly resume: (lastEventId: string) => Promise<Response>;
}

/**
 * The event stream of an exchange: each event at most `maxBytes` bytes long, and not nested too deep; resumed where it
 * ends before the reply and the server numbers its events (MCP specification, Transports, resumability); else the
 * exchange is told that it is lost.
 */
export async function* eventStream(first: Body, options: EventStreamOptions): AsyncGenerator<Uint8Array> {
  const { exchange } = options;
  const scanner = new EventScanner();
  try {
    let times = 0;
    for (let body: Body | undefined = first; body; body = await resumed(scanner, options, times)) {
      times += 1;
      const broken = yield* events(body, scanner, options);
      if (exchange.isFinished) return;
      if (scanner.lastEventId === undefined) {
        exchange.lose(endOf(exchange, broken));
        return;
      }
      yield scanner.breakOff();
    }
  } finally {
    exchange.streamEnded();
  }
}

/** The events of one body; returns why it broke off, if it did. */
async function* events(
  body: Body,
  scanner: EventScanner,
  { exchange, maxBytes }: EventStreamOptions,
): AsyncGenerator<Uint8Array, string> {
  let reader: BodyReader | undefined;
  let isOver = false;
  try {
    reader = readerOf(body);
    const { read } = reader;
    for (let next = await read(); !next.done; next = await read()) {
      if (scanner.longest(next.value) > maxBytes) throw tooLarge('an event', maxBytes);
      if (scanner.isTooDeep) throw tooDeep('an event');
      yield* inTurns(scanner.lines, scanner.turns);
    }
    isOver = true;
    return '';
  } catch (error) {
    if (error instanceof RequestFailure) exchange.lose(error.details);
    return ` (${messageOf(error)})`;
  } finally {
    if (!isOver) reader?.stop();
  }
}

/** Why a stream that has ended without the reply failed its request. */
function endOf({ wasMisread }: HttpExchange, broken: string): RequestFailureDetails {
  return wasMisread && broken === ''
    ? { kind: 'unreadable', message: 'it is no message of the protocol' }
    : { kind: 'closed', message: `the event stream ended without the reply${broken}` };
}

async function resumed(
  scanner: EventScanner,
  { exchange, resume }: EventStreamOptions,
  times: number,
): Promise<Body | undefined> {
  // It grows, so that a server which wants no wait at all does not have every call ask it without a pause.
  const shortest = Math.min(SHORTEST_WAIT * 2 ** (times - 1), SHORT_WAIT);
  const wait = Math.min(Math.max(scanner.retry ?? FIRST_WAIT, shortest), LONGEST_WAIT);
  let reason = '';
  for (let failed = 0; failed < MOST_FAILED_RESUMPTIONS; failed += 1) {
    try {
      await setTimeout(wait, undefined, { signal: exchange.signal });
      const response = await resume(scanner.lastEventId ?? '');
      if (response.ok && mediaType(response) === 'text/event-stream') return bodyOf(response);
      discard(response);
      reason = `HTTP ${response.status}`;
      if (response.status === 405) break;
    } catch (error) {
      if (error instanceof CallbackFailure) exchange.lose(error);
      if (exchange.isFinished) return undefined;
      reason = messageOf(error);
    }
  }
  exchange.lose({
    kind: 'closed',
    message: `the event stream ended without the reply and could not be resumed (${reason})`,
  });
  return undefined;
}

function tooMany(messages: number): RequestFailure {
  const message =
    `the server sent a batch of ${messages} messages in reply to one, and more than ${MOST_MESSAGES} are not taken in: ` +
    'have it answer one request by one message, or by an event stream';
  return new RequestFailure({ kind: 'limit', message });
}

function tooLarge(what: string, maxBytes: number): RequestFailure {
  const message = `the server sent ${what} of more than ${maxBytes} bytes (limit maxResponseBytes)`;
  return new RequestFailure({ kind: 'limit', message });
}
