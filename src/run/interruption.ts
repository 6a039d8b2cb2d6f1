import { CancelledError } from '../errors';
import { onAbort, untilAborted } from './abort';
import type { Run } from './run';

/** What may end one piece of work early. */
export interface Interruption {
  /** Aborts with the `CancelledError` or `DeadlineExceededError` of whichever came first. */
  readonly signal: AbortSignal;
  /** Takes back every listener. */
  readonly release: () => void;
}

/** Joins a run's signal and a call's own signal into one. */
export function interruption(run: Run | undefined, signal: AbortSignal | undefined): Interruption {
  const controller = new AbortController();
  const end = (reason: unknown): void => {
    if (!controller.signal.aborted) controller.abort(reason);
  };
  const detach = [
    run && onAbort(run.signal, () => end(run.signal.reason)),
    signal && onAbort(signal, () => end(cancelledBy(signal))),
  ];
  return { signal: controller.signal, release: () => detach.forEach((undo) => undo?.()) };
}

/** Settles as `work` does, or rejects with why the run ended as soon as it does. */
export function untilRunEnds<T>(work: Promise<T>, run: Run | undefined): Promise<T> {
  return run ? untilAborted(work, run.signal) : work;
}

function cancelledBy(signal: AbortSignal): Error {
  return new CancelledError('The call was cancelled.', { cause: signal.reason });
}
