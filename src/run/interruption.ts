import { CancelledError, DeadlineExceededError, type CallOutcome } from '../errors';
import { Interruption, interruptionBehind, type Abortable } from './abort';
import { endOf, type Run } from './run';

/** What may end one piece of work early: its run, or its own signal. It ends with their `CancelledError` or `DeadlineExceededError`. */
export function interruption(run: Run | undefined, signal: AbortSignal | undefined): Interruption {
  const made = new Interruption(run ? [endOf(run)] : []);
  if (signal) made.follow(signal, (cause) => new CancelledError('The call was cancelled.', { cause }));
  return made;
}

/** Notes what is known about the call of an interruption, should it end early from now on. */
export function noteOutcome(source: Abortable, outcome: CallOutcome): void {
  const made = interruptionBehind(source);
  if (made) made.outcome = outcome;
}

/** Why a call ended early: the reason of its interruption, which may be another call's too, with its own outcome. */
export function interrupted({ reason, outcome }: Interruption): unknown {
  if (outcome === undefined || !(reason instanceof CancelledError || reason instanceof DeadlineExceededError)) {
    return reason;
  }
  const ErrorClass = reason instanceof CancelledError ? CancelledError : DeadlineExceededError;
  return new ErrorClass(reason.message, { ...('cause' in reason && { cause: reason.cause }), outcome });
}
