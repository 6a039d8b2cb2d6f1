import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const SCRIPT = require.resolve('@modelcontextprotocol/server-everything/dist/index.js');

/** The reference server `server-everything`, as a child process that speaks Streamable HTTP on a free port of 127.0.0.1. */
export class EverythingServer implements AsyncDisposable {
  /** Made by `start`. */
  constructor(
    private readonly child: ChildProcess,
    readonly url: URL,
  ) {}

  /** Starts the process and waits until it listens; when that fails or `signal` aborts, no process is left. */
  static async start(signal: AbortSignal): Promise<EverythingServer> {
    const args = ['--require', join(__dirname, 'loopback.js'), SCRIPT, 'streamableHttp'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    const ended = once(child, 'exit', { signal }).then(([code]) => {
      throw new Error(`server-everything ended with code ${code} before it listened.`);
    });
    try {
      const [port] = (await Promise.race([once(child, 'message', { signal }), ended])) as [number];
      return new EverythingServer(child, new URL(`http://127.0.0.1:${port}/mcp`));
    } catch (error) {
      await end(child);
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await end(this.child);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill();
  await exited;
}
