import { nextTurn } from '../../run/next-turn';

/** Messages that are taken in before everything else in the process has its turn; the client takes some 25 µs for each. */
export const MOST_IN_A_TURN = 100;

/** The same of lines of an event stream: an event has two or more, and one that is none costs as much as an event. */
export const MOST_LINES_IN_A_TURN = 2 * MOST_IN_A_TURN;

/** Bytes in pieces that end at `turns`, with a turn for everything else after each of these. */
export async function* inTurns(bytes: Uint8Array, turns: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (const end of turns) {
    yield bytes.subarray(start, end);
    start = end;
    await nextTurn();
  }
  if (start < bytes.length) yield start === 0 ? bytes : bytes.subarray(start);
}
