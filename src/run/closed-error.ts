import { CancelledError } from '../errors';

/** What whoever goes on with a run that is closed is told. */
export function closedError(runId: string): CancelledError {
  const error = new CancelledError(
    `Run ${runId} is closed; start a new run. (An object that keeps a run's registry must not outlive the run, as a ` +
      'singleton would, and what is done in a run has to be awaited before it closes.)',
  );
  // Until somebody reads it, a stack holds what was being called: the run, for whoever keeps its signal.
  void error.stack;
  return error;
}
