import { join } from 'node:path';
import { ChildChannel, type Reporter } from './child-channel';
import { Recorder } from './recorder';
import { methodOf, parseJson, type CallParams, type JsonObject } from './rpc';
import { servers, throwFaults } from './server-registry';
import { serialiseScript, type RawStdioScript, type StdioHandler } from './stdio-script';

/** How a client starts a server over stdio. */
export interface StdioCommand {
  command: string;
  args: string[];
  env?: Record<string, string>;
}

/**
 * What a child received, or what became of it: then `method` is `start`, `grandchild`, `end` (of stdin), `SIGTERM` or
 * `exit`, and there is no `line`.
 */
export interface StdioRecord {
  readonly pid: number;
  readonly method: string;
  readonly message?: unknown;
  readonly line?: string;
}

/** Prepares a server that speaks MCP over stdio as politely or as rudely as the script says; a client starts it. */
export async function rawStdio<D = unknown>(script: RawStdioScript<D> = {}): Promise<RawStdioServer<D>> {
  const server = new RawStdioServer<D>(script);
  await server.open();
  servers.add(server);
  return server;
}

/** A scripted stdio server; made by {@link rawStdio}. Each client that runs the command starts a child of its own. */
export class RawStdioServer<D = unknown> {
  /** The script that the next child gets. */
  script: RawStdioScript<D>;
  /** What handlers threw in the children; `close` throws it. */
  readonly faults: unknown[] = [];
  /** The process ids of the children that have started, ended ones included. */
  readonly pids: number[] = [];
  readonly #recorder = new Recorder<StdioRecord>();
  readonly #runs = new Map<number, { reporter: Reporter; settle(message: JsonObject): void }>();
  readonly #channel: ChildChannel;
  #seq = 0;
  #closing: Promise<void> | undefined;

  constructor(script: RawStdioScript<D>) {
    this.script = script;
    this.#channel = new ChildChannel({
      joined: (reporter) => this.#joined(reporter),
      told: (reporter, message) => this.#told(reporter, message),
      left: (reporter) => this.#left(reporter),
    });
  }

  get command(): string {
    return process.execPath;
  }

  get args(): string[] {
    return [join(__dirname, 'raw-stdio-child.cjs'), String(this.#channel.port), 'child'];
  }

  /** Connection options for a toolset, or parameters for the official transport. */
  get connection(): StdioCommand {
    return { command: this.command, args: this.args };
  }

  /** Everything that happened, in order. */
  get events(): readonly StdioRecord[] {
    return this.#recorder.items;
  }

  /** Every line that the children received. */
  get received(): StdioRecord[] {
    return this.events.filter(({ line }) => line !== undefined);
  }

  /** The parameters of every `tools/call`. */
  get calls(): CallParams[] {
    const calls = this.received.filter(({ method }) => method === 'tools/call');
    return calls.map(({ message }) => (message as { params: CallParams }).params);
  }

  /** The process id of the child that started last. */
  get pid(): number | undefined {
    return this.pids.at(-1);
  }

  /** The `count`-th message of this method, or event of this name, as soon as it has happened. */
  waitFor(what: string | ((record: StdioRecord) => boolean), count?: number): Promise<StdioRecord> {
    return this.#recorder.waitFor(what, count);
  }

  /** Resolves when `count` children have ended; 1 by default. */
  async waitForExit(count = 1): Promise<void> {
    await this.waitFor('exit', count);
  }

  /** Resolves when no process is left, grandchildren included. */
  waitForNoProcesses(): Promise<void> {
    return this.#channel.reporters.whenEmpty();
  }

  /**
   * Runs a self-contained function inside the child that started last, at once, and resolves with what it returns, or
   * with undefined when the child ends before. Without `data` it finds the script's.
   */
  async tell<T = D>(handler: StdioHandler<T>, data?: T): Promise<unknown> {
    const reporter = [...this.#channel.reporters].filter(({ role }) => role === 'child').at(-1);
    if (!reporter) throw new Error('No child of the scripted server is running');
    const seq = ++this.#seq;
    const answer = new Promise<JsonObject>((settle) => this.#runs.set(seq, { reporter, settle }));
    reporter.send({ seq, source: handler.toString(), data });
    const { value, fault } = await answer;
    if (fault !== undefined) throw new Error(`The function failed in the child: ${JSON.stringify(fault)}`);
    return value;
  }

  /** Called by {@link rawStdio}. */
  open(): Promise<void> {
    return this.#channel.open();
  }

  /** Ends every process that is left. Throws what handlers threw. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    servers.delete(this);
    await this.#channel.close();
    this.#recorder.close();
    throwFaults(this.faults);
  }

  #joined(reporter: Reporter): void {
    const { pid, role } = reporter;
    if (role === 'child') {
      this.pids.push(pid);
      reporter.send({ script: serialiseScript(this.script) });
    }
    this.#recorder.add({ pid, method: role === 'child' ? 'start' : 'grandchild' });
  }

  #told(reporter: Reporter, message: JsonObject): void {
    const { pid } = reporter;
    if ('fault' in message && !('ran' in message)) this.faults.push(message.fault);
    else if ('ran' in message) this.#settle(message.ran as number, message);
    else {
      this.#recorder.add(recordOf(pid, message));
      reporter.send({ recorded: true });
    }
  }

  #left(reporter: Reporter): void {
    for (const [seq, run] of this.#runs) if (run.reporter === reporter) this.#settle(seq, {});
    if (reporter.role === 'child') this.#recorder.add({ pid: reporter.pid, method: 'exit' });
  }

  #settle(seq: number, message: JsonObject): void {
    this.#runs.get(seq)?.settle(message);
    this.#runs.delete(seq);
  }
}

function recordOf(pid: number, told: JsonObject): StdioRecord {
  if ('event' in told) return { pid, method: told.event as string };
  const line = told.line as string;
  const message = parseJson(line);
  return { pid, method: methodOf(message), message, line };
}
