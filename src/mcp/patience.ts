import { LONGEST_TIMER } from '../options';
import { joinSignals } from '../run/abort';

/** How long one request may take. */
export interface Patience {
  /** Aborts with the reason of whichever came first: one of the signals, or the time. */
  readonly signal: AbortSignal;
  /** Starts the time again, unless it has run out or is not needed any more. */
  readonly restart: () => void;
  /** Lets the time stand still until the function that it returns is called; then it starts again. */
  readonly pause: () => () => void;
  /** Takes back the timer and every listener. */
  readonly release: () => void;
}

/** Waits until one of `signals` aborts or `timeout` milliseconds have passed, and then ends with their reason. */
export function patience(signals: readonly AbortSignal[], timeout: number, tooSlow: () => Error): Patience {
  const joined = joinSignals(signals);
  let timer: NodeJS.Timeout | undefined;
  let pauses = 0;
  let over = false;
  const release = (): void => {
    over = true;
    clearTimeout(timer);
    joined.release();
  };
  const end = (): void => {
    release();
    joined.end(tooSlow());
  };
  const restart = (): void => {
    clearTimeout(timer);
    if (!over && pauses === 0) timer = setTimeout(end, Math.min(timeout, LONGEST_TIMER));
  };
  const pause = (): (() => void) => {
    let paused = true;
    pauses += 1;
    clearTimeout(timer);
    return () => {
      if (!paused) return;
      paused = false;
      pauses -= 1;
      restart();
    };
  };
  restart();
  return { signal: joined.signal, restart, pause, release };
}
