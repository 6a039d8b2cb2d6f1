import { getEventListeners } from 'node:events';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateClient,
  McpToolset,
  RunFactory,
  ToolRegistry,
  type ConnectOptions,
  type Run,
  type RunOptions,
  type ToolsetClass,
  type ToolsetOptions,
  type UnconnectedClient,
} from 'mcp-toolset';
import { container } from 'tsyringe';

const runs = new Set<Run>();

/** Closes, after each test, every run that it started; a run that the test closed itself may have failed to. */
export function closeRunsAfterEach(): void {
  afterEach(async () => {
    await Promise.allSettled([...runs].map((run) => run.close()));
    runs.clear();
  });
}

/** A run of its own container, closed after the test. */
export function startRun(options: RunOptions = {}): Run {
  const run = new RunFactory(container.createChildContainer()).start(options);
  runs.add(run);
  return run;
}

/** A toolset that reaches its server by connection options. */
export function toolsetFor(connection: ToolsetOptions['connection'], options: ToolsetOptions = {}): ToolsetClass {
  @McpToolset({ name: 'Remote', connection, ...options })
  class Remote {}
  return Remote;
}

/** A toolset whose client the application builds. */
export function factoryToolset(
  create: () => UnconnectedClient | Promise<UnconnectedClient>,
  { connect, ...options }: ToolsetOptions & { readonly connect?: ConnectOptions } = {},
): ToolsetClass {
  @McpToolset({ name: 'Built', ...options })
  class Built {
    @CreateClient(connect)
    client(): UnconnectedClient | Promise<UnconnectedClient> {
      return create();
    }
  }
  return Built;
}

/** An official client for a URL, with the SDK's own transport. */
export function httpClient(url: string): { client: Client; transport: StreamableHTTPClientTransport } {
  const client = new Client({ name: 'application', version: '1.0.0' });
  return { client, transport: new StreamableHTTPClientTransport(new URL(url)) };
}

/** The run's registry with the tools of these toolsets. */
export async function registered(run: Run, ...toolsets: ToolsetClass[]): Promise<ToolRegistry> {
  const registry = run.resolve(ToolRegistry);
  await registry.register(...toolsets);
  return registry;
}

/** A promise and what settles it. */
export interface Gate<T = void> {
  readonly passed: Promise<T>;
  readonly open: (value: T) => void;
}

/** Something that a test opens when it likes. */
export function gate<T = void>(): Gate<T> {
  let open!: (value: T) => void;
  const passed = new Promise<T>((resolve) => (open = resolve));
  return { passed, open };
}

/** How many listeners wait for a signal to abort. */
export function listenersOf(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length;
}

/** The parameters of every cancel notice among messages that a server received. */
export function cancelNotices(received: readonly { method: string; message?: unknown }[]): unknown[] {
  const notices = received.filter(({ method }) => method === 'notifications/cancelled');
  return notices.map(({ message }) => (message as { params: unknown }).params);
}
