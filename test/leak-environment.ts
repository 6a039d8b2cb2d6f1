import type { Circus } from '@jest/types';
import { TestEnvironment } from 'jest-environment-node';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * The node environment, and after the last hook of every test file one more question: is anything left? A child process,
 * a socket, a server, an unhandled rejection or a MaxListenersExceededWarning fails the file and is named.
 * (This is an environment and not an `afterAll` of a set-up file, because jest would run that before the file's own.)
 */

/** What a test may leave for a moment, while it is being closed; afterwards it is a leak. */
const GRACE_MS = 3_000;
/** How often the processes are looked at while tests run; a look takes two or three milliseconds. */
const LOOK_MS = 200;
const WATCHED = ['TCPSocketWrap', 'TCPServerWrap', 'PipeWrap', 'PipeServerWrap', 'ProcessWrap', 'Worker'];

/** Where undici has its global dispatcher, and Node's own, which is there once something of `fetch` is used. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');
void new Headers();
const dispatcher = (globalThis as { [DISPATCHER]?: unknown })[DISPATCHER];

// Opened when they are first looked at, by whichever test file is the first of its worker to do so: not its leak.
void [process.stdout, process.stderr];

/** How many of each watched resource keep this process alive now. */
function resources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** Every process that descends from this one, by `pid:start time` (a pid alone may be used again). Linux only. */
function descendants(): Map<string, string> {
  const found = new Map<string, string>();
  if (process.platform !== 'linux') return found;
  const parents = new Map<number, { parent: number; key: string }>();
  for (const entry of readdirSync('/proc')) {
    const process = /^\d+$/.test(entry) ? status(Number(entry)) : undefined;
    if (process) parents.set(Number(entry), process);
  }
  const descends = (pid: number): boolean => {
    const parent = parents.get(pid)?.parent;
    return parent !== undefined && (parent === process.pid || descends(parent));
  };
  for (const [pid, { key }] of parents) if (descends(pid)) found.set(key, commandLine(pid));
  return found;
}

/** A process that runs; undefined for one that is gone, or dead and only waits to be reaped. */
function status(pid: number): { parent: number; key: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may hold anything; what follows it does not.
    const [state, parent, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? undefined : { parent: Number(parent), key: `${pid}:${rest[17]}` };
  } catch {
    return undefined;
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
  } catch {
    return '(ended)';
  }
}

class LeakEnvironment extends TestEnvironment {
  private readonly before = { resources: resources(), processes: descendants() };
  /** Seen at any time: a grandchild whose parent died is no descendant any more, and still a leak. */
  private readonly processes = new Map<string, string>();
  private readonly look = (): void => {
    for (const [key, command] of descendants()) if (!this.before.processes.has(key)) this.processes.set(key, command);
  };
  private looking: NodeJS.Timeout | undefined;
  private readonly events: string[] = [];
  private readonly onWarning = (warning: Error): void => {
    if (warning.name === 'MaxListenersExceededWarning') this.events.push(`${warning.name}: ${warning.message}`);
  };

  override async setup(): Promise<void> {
    await super.setup();
    // As outside of jest, so that connections make their requests as they do there.
    Object.defineProperty(this.global, DISPATCHER, { value: dispatcher, writable: true, configurable: true });
    process.on('warning', this.onWarning);
    this.looking = setInterval(this.look, LOOK_MS).unref();
  }

  override async teardown(): Promise<void> {
    process.off('warning', this.onWarning);
    clearInterval(this.looking);
    await super.teardown();
  }

  async handleTestEvent(event: Circus.Event, state: Circus.State): Promise<void> {
    if (event.name === 'error' && event.promise) {
      // Jest forgives a rejection that gets its handler late; Node would have ended the process by then.
      const { error } = event as { error: unknown };
      this.events.push(`unhandled rejection: ${error instanceof Error ? error.stack : String(error)}`);
    }
    if (event.name === 'test_done' || event.name === 'run_finish') this.look();
    if (event.name === 'run_finish') {
      const left = await this.settled();
      if (left.length > 0) state.unhandledErrors.push(complaint(left));
    }
  }

  /** What is left when everything had its time to close. */
  private async settled(): Promise<string[]> {
    const end = Date.now() + GRACE_MS;
    // Two turns at least: a rejection and a warning are reported after the microtasks that caused them.
    for (let turn = 0; turn < 2 || (this.left().length > 0 && Date.now() < end); turn += 1) await delay(10);
    return [...this.left(), ...this.events];
  }

  private left(): string[] {
    const now = resources();
    const more = WATCHED.map((kind) => ({
      kind,
      count: (now.get(kind) ?? 0) - (this.before.resources.get(kind) ?? 0),
    }));
    const open = more.filter(({ count }) => count > 0).map(({ kind, count }) => `${count} open ${kind}`);
    const running = [...this.processes].filter(([key]) => status(parseInt(key, 10))?.key === key);
    return [...open, ...running.map(([key, command]) => `child process ${key.split(':')[0]}: ${command}`)];
  }
}

function complaint(left: readonly string[]): Error {
  const error = new Error(`this test file left something behind:\n${left.map((line) => `  - ${line}`).join('\n')}`);
  // Where it was noticed helps nobody.
  error.stack = error.message;
  return error;
}

export = LeakEnvironment;
