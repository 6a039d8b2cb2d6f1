import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { container, type InjectionToken } from 'tsyringe';
import {
  CancelledError,
  CreateClient,
  McpToolset,
  Run,
  RunFactory,
  SessionRegistry,
  ToolBinding,
  ToolRegistry,
  type ToolsetOptions,
} from 'mcp-toolset';
import { createTestServer } from 'mcp-toolset/testing';
import { closeRunsAfterEach, startRun } from '../contract/started-run';

closeRunsAfterEach();

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const server = createTestServer({ tools: { echo: { call: (input) => input } } });

/** What an application may hold for longer than a run. */
const held: unknown[] = [];

@McpToolset()
class Echo {
  @CreateClient()
  client() {
    const parts = server.connect();
    held.push(parts);
    return parts;
  }
}

/** A run with one call, closed; returns what is left of its registry, and of its catalog. */
async function closedRun(hold: (run: Run) => unknown): Promise<WeakRef<object>[]> {
  const run = container.resolve(RunFactory).start();
  held.push(hold(run));
  const registry = run.resolve(ToolRegistry);
  await registry.register(Echo);
  expect(await registry.execute({ name: 'echo', input: { a: 1 } })).toMatchObject({ status: 'success' });
  const [specification] = registry.specifications;
  await run.close();
  return [new WeakRef(registry), new WeakRef(specification!)];
}

async function areForgotten(parts: WeakRef<object>[]): Promise<boolean> {
  for (let round = 0; round < 10; round += 1) {
    await setImmediate();
    collectGarbage();
    if (parts.every((part) => part.deref() === undefined)) return true;
  }
  return false;
}

describe('a closed run', () => {
  it.each<[string, (run: Run) => unknown]>([
    ['its client and transport', () => undefined],
    ['its container', (run) => run.container],
    ['its signal', (run) => run.signal],
  ])('leaves no tools to whoever keeps %s', async (_what, hold) => {
    expect(await areForgotten(await closedRun(hold))).toBe(true);
  });

  it.each<[string, ToolsetOptions]>([
    ['a session', {}],
    ['a session with a shared catalog', { catalog: { ttl: 60_000, key: () => 'all' } }],
  ])('leaves nothing of itself to %s that waits for the next run', async (_what, options) => {
    @McpToolset({ ...options, session: { scope: 'application', key: () => 'all' } })
    class Warm {
      @CreateClient()
      client() {
        return server.connect();
      }
    }
    const left = async (): Promise<WeakRef<object>[]> => {
      const context = { token: 'secret' };
      const run = container.resolve(RunFactory).start({ context });
      const registry = run.resolve(ToolRegistry);
      await registry.register(Warm);
      await registry.execute({ name: 'echo', input: { a: 1 } });
      await run.close();
      return [new WeakRef(run), new WeakRef(context), new WeakRef(registry)];
    };
    const parts = await left();
    const isForgotten = await areForgotten(parts);
    const { size } = container.resolve(SessionRegistry);
    await container.resolve(SessionRegistry).closeAll();
    expect({ isForgotten, size }).toEqual({ isForgotten: true, size: 1 });
  });

  it.each<[string, InjectionToken]>([
    ['Run', Run],
    ['ToolBinding', ToolBinding],
    ['ToolRegistry', ToolRegistry],
  ])('has a container that gives no %s any more', async (_name, token) => {
    const run = startRun();
    const resolve = (): unknown => run.container.resolve(token);
    resolve();
    await run.close();
    expect(resolve).toThrow(CancelledError);
    expect(resolve).toThrow(`Run ${run.id} is closed; start a new run.`);
  });

  it('still has them while what it closes is being closed', async () => {
    const run = startRun();
    const registry = run.resolve(ToolRegistry);
    const seen: unknown[] = [];
    run.register({ close: () => seen.push(run.container.resolve(ToolRegistry)) });
    await run.close();
    expect(seen).toEqual([registry]);
  });
});

describe('the specifications of a registry', () => {
  it('are plain objects', async () => {
    const registry = startRun().resolve(ToolRegistry);
    await registry.register(Echo);
    const inputSchema = expect.objectContaining({ type: 'object' }) as object;
    expect(registry.specifications).toStrictEqual([
      { name: 'echo', description: expect.any(String) as string, inputSchema },
    ]);
  });
});
