import { LONGEST_TIMER } from '../options';
import { onAbort } from '../run/abort';

/** How long one request may take. */
export interface Patience {
  /** Aborts with the reason of whichever came first: one of the signals, or the time. */
  readonly signal: AbortSignal;
  /** Starts the time again, unless it has run out or is not needed any more. */
  readonly restart: () => void;
  /** Takes back the timer and every listener. */
  readonly release: () => void;
}

/** Waits until one of `signals` aborts or `timeout` milliseconds have passed, and then ends with their reason. */
export function patience(signals: readonly AbortSignal[], timeout: number, tooSlow: () => Error): Patience {
  const controller = new AbortController();
  const detach: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  const release = (): void => {
    over = true;
    clearTimeout(timer);
    for (const undo of detach.splice(0)) undo();
  };
  const end = (reason: unknown): void => {
    release();
    if (!controller.signal.aborted) controller.abort(reason);
  };
  const restart = (): void => {
    if (over) return;
    clearTimeout(timer);
    timer = setTimeout(() => end(tooSlow()), Math.min(timeout, LONGEST_TIMER));
  };
  restart();
  for (const signal of signals) {
    if (!controller.signal.aborted) detach.push(onAbort(signal, () => end(signal.reason)));
  }
  return { signal: controller.signal, restart, release };
}
