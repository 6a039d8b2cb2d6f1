import {
  configureMcpToolset,
  McpToolset,
  RunFactory,
  ToolBinding,
  ToolRegistry,
  ToolsetDiscovery,
  type McpToolClass,
  type Run,
  type RunOptions,
  type ToolsetClass,
  type ToolsetOptions,
} from 'mcp-toolset';
import { container as rootContainer, type DependencyContainer } from 'tsyringe';

/** What a test about catalogs works with: a container of its own, what the library warns of, and runs that get closed. */
export class CatalogScene {
  container: DependencyContainer = rootContainer.createChildContainer();
  /** The warnings, in order. */
  warnings: string[] = [];
  private runs: Run[] = [];

  open(): void {
    this.container = rootContainer.createChildContainer();
    this.warnings = [];
    configureMcpToolset(this.container, {
      logger: {
        debug: () => undefined,
        warn: (message) => this.warnings.push(message),
        error: (message) => this.warnings.push(`error: ${message}`),
      },
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.runs.splice(0).map((run) => run.close()));
  }

  run(options: RunOptions = {}): Run {
    const run = this.container.resolve(RunFactory).start(options);
    this.runs.push(run);
    return run;
  }

  registryWithoutRun(): ToolRegistry {
    return new ToolRegistry(new ToolBinding({ container: this.container }));
  }

  /** The registry of a new run, in which the entries are registered. */
  async registered(...entries: Parameters<ToolRegistry['register']>): Promise<ToolRegistry> {
    const registry = this.run().resolve(ToolRegistry);
    await registry.register(...entries);
    return registry;
  }

  /** The generated classes of a toolset in a new run. */
  async discovered(toolset: ToolsetClass, run: Run = this.run()): Promise<McpToolClass[]> {
    return run.resolve(ToolsetDiscovery).discover(toolset, run.resolve(ToolBinding));
  }
}

/** A scene for every test of the file. Call it before `closeServersAfterEach`: runs close before their servers. */
export function useCatalogScene(): CatalogScene {
  const scene = new CatalogScene();
  beforeEach(() => scene.open());
  afterEach(() => scene.close());
  return scene;
}

/** A toolset without methods, named Shop. */
export function shop(
  connection: NonNullable<ToolsetOptions['connection']>,
  options: ToolsetOptions = {},
): ToolsetClass {
  @McpToolset({ connection, ...options })
  class Shop {}
  return Shop;
}

/** What a promise is rejected with; a promise that is fulfilled fails the test. */
export async function rejection(work: Promise<unknown>): Promise<unknown> {
  const [outcome] = await Promise.allSettled([work]);
  if (outcome.status === 'rejected') return outcome.reason;
  throw new Error(`It was fulfilled with ${String(outcome.value)}`);
}
