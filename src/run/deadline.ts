import { LONGEST_TIMER } from '../options';

/**
 * Calls `expire` at `deadline` (milliseconds since the epoch), also when that is further away than a timer can wait.
 * Does not keep the process alive. Returns the function that stops it.
 */
export function atDeadline(deadline: number, expire: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const left = deadline - Date.now();
    timer = setTimeout(() => (deadline <= Date.now() ? expire() : arm()), Math.min(Math.max(left, 0), LONGEST_TIMER));
    timer.unref();
  };
  arm();
  return () => clearTimeout(timer);
}
