import { setTimeout } from 'node:timers/promises';
import { readMessages, type MessageListener } from './event-messages';
import { EventScanner } from './event-scanner';
import { bodyOf, discard, isFinal, mediaType, noBody, type Body } from './response-body';
import { inTurns } from './turns';

const SHORTEST_WAIT = 1_000;
const LONGEST_WAIT = 30_000;
/** How often in a row it is opened again, or cannot be, without hearing anything. */
const MOST_SILENT_OPENINGS = 3;

/** Opens the stream, after an event where it was open before. */
type Opener = (after: { readonly lastEventId: string | undefined }) => Promise<Response>;

interface StandingStreamOptions {
  readonly maxBytes: number;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Is told the messages. */
  readonly listener: MessageListener;
}

/**
 * Opens the standing stream (MCP specification, Transports, listening for messages from the server), and again when it
 * ends, as long as something is heard and until the signal aborts. Returns what the SDK is to be told: the server's
 * refusal, or that there is no such stream, for it is read here.
 */
export async function standingStream(open: Opener, options: StandingStreamOptions): Promise<Response> {
  const first = await open({ lastEventId: undefined });
  if (first.ok && mediaType(first) === 'text/event-stream') {
    void readMessages(events(bodyOf(first), open, options), options.listener);
  } else {
    discard(first);
  }
  return new Response(null, { status: first.ok ? 405 : first.status });
}

async function* events(first: Body, open: Opener, options: StandingStreamOptions): AsyncGenerator<Uint8Array> {
  const scanner = new EventScanner();
  let silent = 0;
  for (
    let body: Body | 'refused' = first;
    body !== 'refused';
    body = await openedAgain(scanner, open, { ...options, silent })
  ) {
    silent += 1;
    try {
      for await (const chunk of body) {
        // An event that is too long or too deep cannot be given to its reader, nor can what follows it.
        if (scanner.longest(chunk) > options.maxBytes || scanner.isTooDeep) return;
        silent = 0;
        yield* inTurns(scanner.lines, scanner.turns);
      }
    } catch {
      // The connection broke, which is one of the ways in which it ends.
    }
    if (options.signal.aborted || silent > MOST_SILENT_OPENINGS) return;
    yield scanner.breakOff();
  }
}

async function openedAgain(
  scanner: EventScanner,
  open: Opener,
  { signal, silent }: StandingStreamOptions & { readonly silent: number },
): Promise<Body | 'refused'> {
  const shortest = SHORTEST_WAIT * 2 ** Math.max(0, silent - 1);
  const wait = Math.min(Math.max(scanner.retry ?? 0, shortest), LONGEST_WAIT);
  try {
    await setTimeout(wait, undefined, { signal, ref: false });
    const response = await open({ lastEventId: scanner.lastEventId });
    if (response.ok && mediaType(response) === 'text/event-stream') return bodyOf(response);
    discard(response);
    if (isFinal(response.status)) return 'refused';
  } catch {
    // It could not be opened now; calls tell of a server that is gone.
  }
  return noBody();
}
