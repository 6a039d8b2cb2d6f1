import { container } from 'tsyringe';
import {
  configureMcpToolset,
  McpToolset,
  RunFactory,
  Tool,
  ToolRegistry,
  type Run,
  type RunOptions,
  type ToolEntry,
} from 'mcp-toolset';
import { overrideClient, type TestServer } from 'mcp-toolset/testing';
import { gate } from '../contract/live-run';
import { servers } from '../servers';

const runs: Run[] = [];

/** Ends, after each test, its runs and then its servers. */
export function closeAfterEach(): void {
  afterEach(async () => {
    for (const run of runs.splice(0)) await run.close();
    await servers.closeAll();
  });
}

/** A run with the tools of a server in memory and others, and what the library logged. */
export interface AdapterRun {
  readonly run: Run;
  readonly tools: ToolRegistry;
  readonly warnings: string[];
  readonly errors: string[];
}

/** What a run of a test is made of. */
export interface AdapterRunParts extends Omit<RunOptions, 'container'> {
  readonly server?: TestServer;
  readonly entries?: ToolEntry;
  /** Milliseconds that the container allows for a request. */
  readonly requestTimeout?: number;
}

/** Starts a run and registers its tools. */
export async function adapterRun({
  server,
  entries = [],
  requestTimeout,
  ...options
}: AdapterRunParts): Promise<AdapterRun> {
  @McpToolset({ name: 'awkward', connection: { url: 'https://mcp.invalid/' } })
  class AwkwardTools {}
  const warnings: string[] = [];
  const errors: string[] = [];
  const own = container.createChildContainer();
  const logger = {
    debug: () => {},
    warn: (message: string) => void warnings.push(message),
    error: (message: string) => void errors.push(message),
  };
  configureMcpToolset(own, { logger, timeout: requestTimeout });
  if (server) overrideClient(own, AwkwardTools, server);
  const run = own.resolve(RunFactory).start({ container: own, ...options });
  runs.push(run);
  const tools = run.resolve(ToolRegistry);
  await tools.register(...(server ? [AwkwardTools] : []), entries);
  return { run, tools, warnings, errors };
}

/** A tool named `wait` that never ends, and a promise of its first call. */
export function waitingTool(): { readonly wait: ToolEntry; readonly called: Promise<void> } {
  const { passed, open } = gate();
  const wait = Tool.define({
    name: 'wait',
    description: 'x',
    inputSchema: { type: 'object' },
    call: () => {
      open();
      return new Promise(() => {});
    },
  });
  return { wait, called: passed };
}
