import { Attached } from './attached';

/** What stands for a run in a table of objects that may outlive it. */
export interface RunIdentity {
  readonly id: string | undefined;
}

const NONE: RunIdentity = { id: undefined };
const identities = new Attached<object, RunIdentity>();

/** The identity of a run, or of what belongs to none. */
export function identityOf(run: { readonly id: string } | undefined): RunIdentity {
  return run ? identities.of(run, () => ({ id: run.id })) : NONE;
}
