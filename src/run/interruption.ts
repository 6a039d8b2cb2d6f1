import { CancelledError, DeadlineExceededError, type CallOutcome } from '../errors';
import { joinSignals, onAbort } from './abort';
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
  const joined = joinSignals(run ? [run.signal] : []);
  const detach = signal && onAbort(signal, () => joined.end(cancelledBy(signal)));
  const release = (): void => {
    joined.release();
    detach?.();
  };
  return { signal: joined.signal, release };
}

function cancelledBy(signal: AbortSignal): Error {
  return new CancelledError('The call was cancelled.', { cause: signal.reason });
}

/** Where the signal of a call holds what is known about the call. */
const OUTCOME = Symbol('mcp-toolset/outcome');

type CallSignal = AbortSignal & { [OUTCOME]?: CallOutcome };

/** Notes what is known about the call of an interruption, should it end early from now on. */
export function noteOutcome(signal: CallSignal, outcome: CallOutcome): void {
  signal[OUTCOME] = outcome;
}

/** Why a call ended early: the reason of its interruption, which may be another call's too, with its own outcome. */
export function interrupted(signal: CallSignal): unknown {
  const reason: unknown = signal.reason;
  const outcome = signal[OUTCOME];
  if (outcome === undefined || !(reason instanceof CancelledError || reason instanceof DeadlineExceededError)) {
    return reason;
  }
  const ErrorClass = reason instanceof CancelledError ? CancelledError : DeadlineExceededError;
  return new ErrorClass(reason.message, { ...('cause' in reason && { cause: reason.cause }), outcome });
}
