import { Attached } from '../run/attached';
import type { Run } from '../run/run';
import { closeTogether } from './session-registry';

/** The sessions of one run, which it closes together. */
class RunSessions {
  private readonly sessions = new Set<{ close(): Promise<void> }>();

  constructor(private readonly runId: string) {}

  add(session: { close(): Promise<void> }): void {
    this.sessions.add(session);
  }

  close(): Promise<void> {
    return closeTogether(this.sessions, `Run ${this.runId}`);
  }
}

const sessionsOf = new Attached<Run, RunSessions>();

/**
 * Lets a run close a session when it ends, together with its other sessions.
 * @throws CancelledError when the run is closed
 */
export function closeWithRun(run: Run, session: { close(): Promise<void> }): void {
  const sessions = sessionsOf.of(run, () => new RunSessions(run.id));
  run.register(sessions);
  sessions.add(session);
}
