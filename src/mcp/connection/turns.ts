import { setImmediate } from 'node:timers/promises';

/** Messages that are taken in before everything else in the process has its turn; the client takes some 25 µs for each. */
export const MOST_IN_A_TURN = 100;

/** A chunk in which `events` events end: as it is where they are few, else in pieces with a turn for everything else between. */
export async function* inTurns(chunk: Uint8Array, events: number): AsyncGenerator<Uint8Array> {
  if (events <= MOST_IN_A_TURN) {
    yield chunk;
    return;
  }
  const size = Math.ceil((chunk.length * MOST_IN_A_TURN) / events);
  for (let at = 0; at < chunk.length; at += size) {
    yield chunk.subarray(at, at + size);
    await setImmediate();
  }
}
