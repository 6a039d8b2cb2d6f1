import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';

const live = new Set<ChildProcess>();

// Node tells of every child process, whoever starts it: the sample, or the SDK's transport for a toolset over stdio.
subscribe('child_process', (message) => {
  const { process: child } = message as { process: ChildProcess };
  child.once('spawn', () => live.add(child));
  child.once('exit', () => live.delete(child));
});

/** How many child processes of this one run now. */
export function liveChildren(): number {
  return live.size;
}
