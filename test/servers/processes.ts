import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** A running process. */
export interface LiveProcess {
  pid: number;
  ppid: number;
  command: string;
}

/**
 * The live descendants of a process: its children, their children and so on. A process whose parent has ended belongs
 * to nobody any more and is not among them: ask {@link isAlive} for such a one.
 */
export function childrenOf(pid: number = process.pid): LiveProcess[] {
  const all = liveProcesses();
  const found: LiveProcess[] = [];
  const parents = [pid];
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    const children = all.filter(({ ppid }) => ppid === parent);
    found.push(...children);
    parents.push(...children.map((child) => child.pid));
  }
  return found;
}

/** Whether a process runs; one that has ended and waits for its parent to notice does not. */
export function isAlive(pid: number): boolean {
  return (hasProc() ? processOf(pid) : fromPs()).some((candidate) => candidate.pid === pid);
}

/** Resolves when a process has no live descendants. Throws, naming them, when some are left after `within` ms. */
export async function waitForNoChildren(pid: number = process.pid, within = 2_000): Promise<void> {
  await waitUntilNone(() => childrenOf(pid).map((child) => `${child.pid} (${child.command})`), within);
}

/** Ends processes by SIGKILL and resolves when they are gone. */
export async function killAndWait(pids: readonly number[]): Promise<void> {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // gone already
    }
  }
  await waitUntilNone(() => pids.filter(isAlive), 5_000);
}

/** Looks again and again: the end of a process that is not one's own child is no event that Node tells of. */
async function waitUntilNone(left: () => unknown[], within: number): Promise<void> {
  const deadline = performance.now() + within;
  for (let found = left(); found.length > 0; found = left()) {
    if (performance.now() > deadline) {
      throw new Error(`Processes are still running after ${within} ms: ${found.join(', ')}`);
    }
    await delay(5);
  }
}

function hasProc(): boolean {
  return existsSync('/proc/self/stat');
}

function liveProcesses(): LiveProcess[] {
  if (!hasProc()) return fromPs();
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => processOf(Number(pid)));
}

/** The process of this id where it runs, else nothing. */
function processOf(pid: number): LiveProcess[] {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  // pid (name) state ppid …; the name may hold spaces and parentheses
  const [state = 'X', ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (stat === '' || 'ZX'.includes(state)) return [];
  const command = readOrEmpty(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
  return [{ pid, ppid: Number(ppid), command }];
}

/** For systems without /proc. */
function fromPs(): LiveProcess[] {
  const { stdout, pid: ps } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,command='], { encoding: 'utf8' });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, ppid, state = 'Z', command = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return state.startsWith('Z') || Number(pid) === ps ? [] : [{ pid: Number(pid), ppid: Number(ppid), command }];
  });
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // it ended meanwhile
  }
}
