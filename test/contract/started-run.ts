import { container } from 'tsyringe';
import {
  ConfigurationError,
  RunFactory,
  SessionRegistry,
  ToolBinding,
  ToolRegistry,
  ToolsetDiscovery,
  type McpToolClass,
  type Run,
  type RunOptions,
  type ToolEntry,
  type ToolsetClass,
} from 'mcp-toolset';
import { servers } from '../servers';

const runs = new Set<Run>();

/** A run that is closed after the test. */
export function startRun(options: RunOptions = {}): Run {
  const run = container.resolve(RunFactory).start(options);
  runs.add(run);
  return run;
}

/** Closes, after each test of the file, its runs and then its servers; no session may be left. */
export function closeRunsAfterEach(): void {
  afterEach(async () => {
    const open = [...runs];
    runs.clear();
    await Promise.all(open.map((run) => run.close()));
    expect([...container.resolve(SessionRegistry)]).toEqual([]);
    await servers.closeAll();
  });
}

/** The generated classes of a toolset, in a run of its own unless one is given. */
export function discover(toolset: ToolsetClass, run: Run = startRun()): Promise<McpToolClass[]> {
  return run.resolve(ToolsetDiscovery).discover(toolset, run.resolve(ToolBinding));
}

/** The names by which the model would see the tools of a toolset. */
export async function namesOf(toolset: ToolsetClass, run?: Run): Promise<string[]> {
  return (await discover(toolset, run)).map(({ toolName }) => toolName);
}

/** The registry of a run in which the entries are registered. */
export async function registered(entries: ToolEntry, run: Run = startRun()): Promise<ToolRegistry> {
  const registry = run.resolve(ToolRegistry);
  await registry.register(entries);
  return registry;
}

/** The message of the ConfigurationError that declaring or using something ends with. */
export async function faultOf(use: () => unknown): Promise<string> {
  try {
    await use();
  } catch (error) {
    if (ConfigurationError.is(error)) return error.message;
    throw error;
  }
  throw new Error('expected a ConfigurationError, but nothing was thrown');
}
