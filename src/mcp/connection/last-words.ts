import type { ChildProcess } from 'node:child_process';

/** Milliseconds that the end of a child is waited for which has exited, or has closed a pipe. */
const PATIENCE = 500;
/** Pieces of output that are taken in turns: what the child itself has left fits into fewer, and a grandchild may never end. */
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
  const wait = (): void => {
    // In a process that is slow the time may pass before it has had a turn to read.
    const check = (): void => {
      if (isOver) return;
      if (child.stdout?.isPaused() === true && pieces < MOST_PIECES) wait();
      else done();
    };
    timer = setTimeout(() => setImmediate(check), PATIENCE).unref();
  };
  child.stdout?.on('data', count);
  child.once('close', () => {
    isOver = true;
    clearTimeout(timer);
  });
  wait();
}
