import { Attached } from './attached';
import type { Run } from './run';

/** What stands for a run in a table of objects that may outlive it. */
export interface RunIdentity {
  readonly id: string | undefined;
}

const NONE: RunIdentity = { id: undefined };
const identities = new Attached<Run, RunIdentity>();

/** The identity of a run, or of what belongs to none. */
export function identityOf(run: Run | undefined): RunIdentity {
  return run ? identities.of(run, () => ({ id: run.id })) : NONE;
}
