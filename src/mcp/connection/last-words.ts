import type { ChildProcess } from 'node:child_process';

/** Milliseconds of silence after which the end of a child that has exited, or has closed a pipe, is not waited for. */
const SILENCE = 500;
/** Pieces of output that are waited for: what the child itself has left fits into fewer, and a grandchild may never end. */
const MOST_PIECES = 20;

/**
 * Calls `done` when nothing more comes of a child that is about to end, unless it has ended before: a grandchild can keep
 * its output open for ever, and the child itself can live on.
 */
export function afterLastWords(child: ChildProcess, done: () => void): void {
  let pieces = 0;
  let isOver = false;
  let timer: NodeJS.Timeout;
  const count = (): void => void (pieces += 1);
  const isHeard = (before: number): boolean =>
    pieces < MOST_PIECES && (pieces > before || child.stdout?.isPaused() === true);
  const wait = (): void => {
    const before = pieces;
    // In a process that is slow the time may pass before it has had a turn to read.
    const check = (): void => {
      if (isOver) return;
      if (isHeard(before)) wait();
      else done();
    };
    timer = setTimeout(() => setImmediate(check), SILENCE).unref();
  };
  child.stdout?.on('data', count);
  child.once('close', () => {
    isOver = true;
    clearTimeout(timer);
  });
  wait();
}
