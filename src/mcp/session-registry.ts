import { singleton } from 'tsyringe';
import { CleanupError } from '../errors';

/** An open session, as an application may look at it. */
export interface OpenSession {
  /** Name of the toolset. */
  readonly toolset: string;
  /** Id of the run that owns it, if one does. */
  readonly runId: string | undefined;
  readonly openedAt: Date;
}

interface ClosableSession extends OpenSession {
  close(): Promise<void>;
}

const open = new Set<ClosableSession>();

/** Every open session of the process, whichever container asks. */
@singleton()
export class SessionRegistry {
  /** How many sessions are open. */
  get size(): number {
    return open.size;
  }

  /** The open sessions, the oldest first. */
  *[Symbol.iterator](): IterableIterator<OpenSession> {
    for (const { toolset, runId, openedAt } of [...open]) yield Object.freeze({ toolset, runId, openedAt });
  }

  /**
   * Closes every open session, in parallel, for a graceful shutdown; calls in flight fail at once.
   * @throws CleanupError when some could not be closed
   */
  async closeAll(): Promise<void> {
    await closeTogether([...open], 'SessionRegistry#closeAll');
  }
}

/** Enters a session that opens; it leaves by `leaveRegistry`. */
export function enterRegistry(session: ClosableSession): void {
  open.add(session);
}

/** Takes out a session that has closed. */
export function leaveRegistry(session: ClosableSession): void {
  open.delete(session);
}

/**
 * Closes everything in parallel.
 * @throws CleanupError with every failure
 */
export async function closeTogether(closables: Iterable<{ close(): unknown }>, who: string): Promise<void> {
  const outcomes = await Promise.allSettled([...closables].map(async (closable) => closable.close()));
  const errors = outcomes.flatMap((outcome): unknown[] => {
    if (outcome.status === 'fulfilled') return [];
    return CleanupError.is(outcome.reason) ? [...outcome.reason.errors] : [outcome.reason];
  });
  if (errors.length > 0)
    throw new CleanupError(`${who}: ${errors.length} of its resources could not be closed.`, { errors });
}
