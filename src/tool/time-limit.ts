import { createContext, Script } from 'node:vm';
import { traitOf } from '../errors';

const TIMED_OUT = 'ERR_SCRIPT_EXECUTION_TIMEOUT';

// Only a script of node:vm can be broken off while it runs, in the middle of a regular expression too.
const script = new Script('work()');
const context = createContext({});

/**
 * Runs synchronous work that may never end.
 * @throws Error when it has not ended after `milliseconds`, and what the work throws
 */
export function withinTime<T>(milliseconds: number, work: () => T): T {
  const done: T[] = [];
  context.work = () => void done.push(work());
  try {
    script.runInContext(context, { timeout: milliseconds });
  } catch (error) {
    if (traitOf(error, 'code') !== TIMED_OUT) throw error;
    throw new Error(`it takes longer than ${milliseconds} ms`, { cause: error });
  } finally {
    context.work = undefined;
  }
  return done[0] as T;
}
