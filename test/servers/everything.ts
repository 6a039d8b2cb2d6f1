import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { StdioCommand } from './raw-stdio';
import { servers, type StartedServer } from './server-registry';

/** A running reference server; made by {@link startEverything}. */
export class EverythingServer implements StartedServer {
  readonly #child: ChildProcess;
  #port = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`;
  }

  /** Connection options for a toolset. */
  get connection(): { url: string; allowInsecureHttp: true } {
    return { url: this.url, allowInsecureHttp: true };
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Called by {@link startEverything}. */
  async listening(): Promise<void> {
    this.#port = await portOf(this.#child);
  }

  /** Ends the process. */
  async close(): Promise<void> {
    servers.delete(this);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await closed;
  }
}

/** Starts the reference server `server-everything` over Streamable HTTP, on a free port of 127.0.0.1. */
export async function startEverything(): Promise<EverythingServer> {
  const args = ['--require', join(__dirname, 'loopback-preload.cjs'), binOf('server-everything'), 'streamableHttp'];
  const server = new EverythingServer(spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }));
  servers.add(server);
  await server.listening();
  return server;
}

/** How to start `server-everything` over stdio. */
export function everythingStdio(): StdioCommand {
  return { command: process.execPath, args: [binOf('server-everything'), 'stdio'] };
}

/** How to start `server-filesystem`, which serves the files of one folder. */
export function filesystemStdio(folder: string): StdioCommand {
  return { command: process.execPath, args: [binOf('server-filesystem'), folder] };
}

/** How to start `server-memory`, which keeps its graph in a file (absolute path). */
export function memoryStdio(file: string): StdioCommand {
  return { command: process.execPath, args: [binOf('server-memory')], env: { MEMORY_FILE_PATH: file } };
}

function binOf(name: string): string {
  const manifest = require.resolve(`@modelcontextprotocol/${name}/package.json`);
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> };
  const [script] = Object.values(bin);
  if (script === undefined) throw new Error(`${manifest} names no bin file`);
  return join(dirname(manifest), script);
}

/** The port that the preload script reports as soon as the server listens. */
async function portOf(child: ChildProcess): Promise<number> {
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => (stderr = `${stderr}${chunk.toString()}`.slice(-2_000)));
  const stop = new AbortController();
  try {
    return await Promise.race([
      once(child, 'message', { signal: stop.signal }).then(([port]) => port as number),
      once(child, 'exit', { signal: stop.signal }).then(([code]) => {
        throw new Error(`server-everything ended with code ${String(code)} before it listened: ${stderr}`);
      }),
    ]);
  } finally {
    stop.abort();
  }
}
