import { container } from 'tsyringe';
import {
  configureMcpToolset,
  CreateClient,
  MapTool,
  McpToolset,
  Tool,
  ToolBinding,
  ToolRegistry,
  ToolsetDiscovery,
  type MapToolContext,
  type McpToolClass,
  type ToolsetClass,
} from 'mcp-toolset';
import { createTestServer, type TestServer } from 'mcp-toolset/testing';
import { rawStdio, tool, waitForNoChildren } from '../servers';
import { closeRunsAfterEach, discover, faultOf, registered, startRun } from './started-run';

closeRunsAfterEach();

const newServer = (...names: string[]): TestServer =>
  createTestServer({ tools: Object.fromEntries(names.map((name) => [name, { call: () => name }])) });

type Mapping = (toolClass: McpToolClass, context: MapToolContext) => McpToolClass | null;

function shopOf(server: TestServer, map: Mapping = (toolClass) => toolClass): ToolsetClass {
  @McpToolset()
  class Shop {
    @CreateClient()
    client() {
      return server.connect();
    }
    @MapTool()
    curate(toolClass: McpToolClass, context: MapToolContext) {
      return map(toolClass, context);
    }
  }
  return Shop;
}

const unbound = (): ToolBinding => new ToolBinding({ container: container.createChildContainer() });
const discovered = (toolset: ToolsetClass, binding = unbound()): Promise<McpToolClass[]> =>
  container.resolve(ToolsetDiscovery).discover(toolset, binding);

describe('R9: with a run, the run owns the session', () => {
  it('also where nobody instantiates a class, or no tool was found', async () => {
    const [full, empty] = [newServer('a'), newServer()];
    const run = startRun();
    await discover(shopOf(full), run);
    expect(await discover(shopOf(empty), run)).toEqual([]);
    expect([full.connections, empty.connections]).toEqual([1, 1]);
    await run.close();
    expect([full.connections, empty.connections]).toEqual([0, 0]);
  });

  it('and it outlives its registries and the instances made by hand', async () => {
    const server = newServer('a');
    const run = startRun();
    const binding = run.resolve(ToolBinding);
    const [first] = await discover(shopOf(server), run);
    const registry = new ToolRegistry(binding);
    await registry.register(first!);
    await registry.close();
    const byHand = new first!(binding);
    expect(await byHand.execute()).toMatchObject({ content: 'a' });
    await byHand.close();
    expect(server.connections).toBe(1);
    await run.close();
    expect(server.connections).toBe(0);
  });
});

describe('R9: without a run, the registry that registered the classes closes the session', () => {
  it('when it closes, and not before', async () => {
    const server = newServer('a', 'b');
    const registry = new ToolRegistry(unbound());
    await registry.register(shopOf(server));
    expect(await registry.execute({ name: 'b' })).toMatchObject({ content: 'b' });
    expect(server.connections).toBe(1);
    await registry.close();
    expect(server.connections).toBe(0);
    await registry.close();
  });

  it('though the classes were discovered by hand, and only some of them were registered', async () => {
    const server = newServer('a', 'b', 'c');
    const registry = new ToolRegistry(unbound());
    const [, second, third] = await discovered(shopOf(server));
    await registry.register([second, third] as McpToolClass[]);
    expect(registry.names).toEqual(['b', 'c']);
    await registry.close();
    expect(server.connections).toBe(0);
  });

  it('two registries of the same classes: the last one to close', async () => {
    const server = newServer('a');
    const classes = await discovered(shopOf(server));
    const registries = [new ToolRegistry(unbound()), new ToolRegistry(unbound())];
    for (const registry of registries) await registry.register(...classes);
    await registries[0]?.close();
    expect(await registries[1]?.execute({ name: 'a' })).toMatchObject({ content: 'a' });
    await registries[1]?.close();
    expect(server.connections).toBe(0);
  });

  it('a child process too', async () => {
    const child = await rawStdio({ tools: [tool('a')] });
    @McpToolset({ connection: child.connection })
    class Shop {}
    const registry = new ToolRegistry(unbound());
    await registry.register(Shop);
    await registry.close();
    await waitForNoChildren();
  });

  it('at once, where registering fails', async () => {
    const server = newServer('a');
    class Clash extends Tool {
      static override toolName = 'a';
      static override description = 'The same name.';
      static override inputSchema = { type: 'object' };
      call() {
        return 1;
      }
    }
    const registry = new ToolRegistry(unbound());
    expect(await faultOf(() => registry.register(shopOf(server), Clash))).toMatch(/two tools have the name "a"/);
    expect(server.connections).toBe(0);
    await registry.register(Clash);
    expect(registry.names).toEqual(['a']);
  });

  it('at once, where the constructor of a subclass throws, whatever was made before', async () => {
    const server = newServer('a', 'b');
    const failure = new RangeError('no');
    const Shop = shopOf(server, (toolClass, { mcpTool }) =>
      mcpTool.name === 'a'
        ? toolClass
        : class extends toolClass {
            constructor(binding: ToolBinding) {
              super(binding);
              throw failure;
            }
          },
    );
    const registry = new ToolRegistry(unbound());
    await expect(registry.register(Shop)).rejects.toBe(failure);
    expect(server.connections).toBe(0);
    expect(registry.names).toEqual([]);
  });

  it('at once, where registering fails and a tool that was made for it cannot be closed', async () => {
    const server = newServer('a', 'b');
    const Shop = shopOf(server, (toolClass, { mcpTool }) =>
      mcpTool.name === 'a'
        ? class extends toolClass {
            override close() {
              return Promise.reject(new Error('cannot close'));
            }
          }
        : class extends toolClass {
            constructor(binding: ToolBinding) {
              super(binding);
              throw new RangeError('no');
            }
          },
    );
    const binding = unbound();
    const errors: unknown[] = [];
    const logger = { debug() {}, warn() {}, error: (...told: unknown[]) => errors.push(told) };
    configureMcpToolset(binding.container, { logger });
    await expect(new ToolRegistry(binding).register(Shop)).rejects.toThrow('no');
    expect(server.connections).toBe(0);
    expect(errors).toEqual([[expect.stringMatching(/could not be closed/), [new Error('cannot close')]]]);
  });

  it('at once, where availableIf leaves every class out, or fails', async () => {
    const server = newServer('a', 'b');
    const Shop = shopOf(server, (toolClass) => Object.assign(toolClass, { availableIf: () => false }));
    const registry = new ToolRegistry(unbound());
    await registry.register(Shop);
    expect(registry.names).toEqual([]);
    expect(server.connections).toBe(0);
    const failure = new TypeError('who are you?');
    const Failing = shopOf(newServer('a'), (toolClass) =>
      Object.assign(toolClass, { availableIf: () => Promise.reject(failure) }),
    );
    await expect(registry.register(Failing)).rejects.toBe(failure);
    expect(server.connections).toBe(0);
  });

  it('at its end, where availableIf leaves some classes out', async () => {
    const server = newServer('a', 'b');
    const Shop = shopOf(server, (toolClass, { mcpTool }) =>
      Object.assign(toolClass, { availableIf: () => mcpTool.name === 'b' }),
    );
    const registry = new ToolRegistry(unbound());
    await registry.register(Shop);
    expect(await registry.execute({ name: 'b' })).toMatchObject({ content: 'b' });
    await registry.close();
    expect(server.connections).toBe(0);
  });
});

describe('R9: without a run, whoever instantiated a class closes the instance', () => {
  it('and with the last of them the session', async () => {
    const server = newServer('a', 'b');
    const binding = unbound();
    const classes = await discovered(shopOf(server), binding);
    const tools = [...classes, ...classes].map((toolClass) => new toolClass(binding));
    for (const made of tools) {
      expect(server.connections).toBe(1);
      expect(await made.execute()).toMatchObject({ status: 'success' });
      await made.close();
      await made.close();
    }
    expect(server.connections).toBe(0);
  });

  it('and a call after that is an error that says so', async () => {
    const server = newServer('a');
    const binding = unbound();
    const [first] = await discovered(shopOf(server), binding);
    const made = new first!(binding);
    await made.close();
    const execution = await made.execute();
    expect(execution).toMatchObject({ status: 'error', error: { outcome: 'not-sent' } });
    expect(String(execution.error)).toMatch(/Toolset Shop, tool "a": the session is closed\.$/);
  });

  it('a registry does not close instances that it was handed', async () => {
    const server = newServer('a');
    const binding = unbound();
    const [first] = await discovered(shopOf(server), binding);
    const made = new first!(binding);
    const registry = new ToolRegistry(binding);
    await registry.register(made);
    await registry.close();
    expect(await made.execute()).toMatchObject({ content: 'a' });
    await made.close();
    expect(server.connections).toBe(0);
  });
});

describe('R9: without a run, a discovery that yields no tools closes its session at once', () => {
  it.each<[string, TestServer, Mapping]>([
    ['the server has none', newServer(), (toolClass) => toolClass],
    ['@MapTool omits all', newServer('a'), () => null],
  ])('where %s', async (_, server, map) => {
    expect(await discovered(shopOf(server, map))).toEqual([]);
    expect(server.connections).toBe(0);
  });

  it('so that a registry of such a toolset leaves nothing', async () => {
    const child = await rawStdio({ tools: [] });
    @McpToolset({ connection: child.connection })
    class Shop {}
    const registry = new ToolRegistry(unbound());
    await registry.register(Shop);
    await waitForNoChildren();
    await registry.close();
  });
});

it('R9: a registry of a run is closed by it, made by hand or not', async () => {
  const server = newServer('a');
  const run = startRun();
  const registry = await registered(shopOf(server), run);
  const byHand = new ToolRegistry(run.resolve(ToolBinding));
  await byHand.register(shopOf(newServer('b')));
  await run.close();
  await expect(registry.execute({ name: 'a' })).rejects.toThrow(/closed/);
  await expect(byHand.execute({ name: 'b' })).rejects.toThrow(/closed/);
  expect(server.connections).toBe(0);
});
