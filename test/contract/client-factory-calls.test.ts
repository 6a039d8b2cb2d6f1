import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CancelledError,
  CreateClient,
  McpToolset,
  ToolBinding,
  ToolRegistry,
  ToolsetDiscovery,
  type ToolsetClass,
  type UnconnectedClient,
} from 'mcp-toolset';
import { createTestServer, type TestServer } from 'mcp-toolset/testing';
import { startRawHttp, tool } from '../servers';
import { deferred } from './deferred';
import { closeRunsAfterEach, discover, startRun } from './started-run';

closeRunsAfterEach();

const newServer = (): TestServer => createTestServer({ tools: { a: { call: () => 'a' }, b: { call: () => 'b' } } });

function shopOf(make: (call: number) => unknown): { Shop: ToolsetClass; bindings: ToolBinding[] } {
  const bindings: ToolBinding[] = [];
  @McpToolset()
  class Shop {
    @CreateClient()
    makeClient(binding: ToolBinding) {
      bindings.push(binding);
      return make(bindings.length) as UnconnectedClient;
    }
  }
  return { Shop, bindings };
}

describe('R5: when a client factory is called', () => {
  it("once per run and toolset, with the run's binding", async () => {
    const server = newServer();
    const { Shop, bindings } = shopOf(() => server.connect());
    const run = startRun({ actorId: 'ada' });
    const first = await discover(Shop, run);
    const again = await discover(Shop, run);
    expect(again).toHaveLength(2);
    again.forEach((toolClass, index) => expect(toolClass).toBe(first[index]));
    expect(bindings).toHaveLength(1);
    expect(bindings[0]).toBe(run.resolve(ToolBinding));
    expect(bindings[0]?.run?.invocation.actorId).toBe('ada');
    expect(server.connections).toBe(1);
  });

  it('once for discoveries in parallel, by registry, provider and discovery', async () => {
    const server = newServer();
    const { Shop, bindings } = shopOf(() => server.connect());
    const run = startRun();
    const discovery = run.resolve(ToolsetDiscovery);
    const registry = run.resolve(ToolRegistry);
    const [first, second, provided] = await Promise.all([
      discover(Shop, run),
      discover(Shop, run),
      discovery.provider(Shop).tools(run.resolve(ToolBinding)),
      registry.register(Shop),
    ]);
    expect(second).toEqual(first);
    expect(provided).toEqual(first);
    expect([...registry].map((made) => made.constructor)).toEqual(first);
    expect(bindings).toHaveLength(1);
  });

  it('a caller that changes the array that it got changes nothing for the next', async () => {
    const server = newServer();
    const { Shop } = shopOf(() => server.connect());
    const run = startRun();
    (await discover(Shop, run)).length = 0;
    expect(await discover(Shop, run)).toHaveLength(2);
  });

  it('once more after a discovery that failed, whose error reaches all who waited', async () => {
    const server = newServer();
    const failure = new Error('no token today');
    const { Shop, bindings } = shopOf((call) => (call === 1 ? Promise.reject(failure) : server.connect()));
    const run = startRun();
    const outcomes = await Promise.allSettled([discover(Shop, run), discover(Shop, run)]);
    expect(outcomes).toEqual([
      { status: 'rejected', reason: failure },
      { status: 'rejected', reason: failure },
    ]);
    expect(bindings).toHaveLength(1);
    expect(await discover(Shop, run)).toHaveLength(2);
    expect(await discover(Shop, run)).toHaveLength(2);
    expect(bindings).toHaveLength(2);
  });

  it('once more after an optional toolset had none', async () => {
    const http = await startRawHttp({ tools: [tool('a')], on: { initialize: (exchange) => exchange.raw(503) } });
    @McpToolset({ optional: true, connection: http.connection })
    class Shop {}
    const run = startRun();
    expect(await discover(Shop, run)).toEqual([]);
    http.script = { tools: [tool('a')] };
    expect(await discover(Shop, run)).toHaveLength(1);
  });

  it('for every run anew, and the runs share no class', async () => {
    const server = newServer();
    const { Shop, bindings } = shopOf(() => server.connect());
    const [one, two] = [startRun(), startRun()];
    const [ofOne, ofTwo] = await Promise.all([discover(Shop, one), discover(Shop, two)]);
    expect(bindings.map(({ run }) => run)).toEqual([one, two]);
    expect(ofOne.filter((toolClass) => ofTwo.includes(toolClass))).toEqual([]);
    expect(server.connections).toBe(2);
    await one.close();
    expect(server.connections).toBe(1);
  });

  it('once for each discovery without a run', async () => {
    const server = newServer();
    const { Shop, bindings } = shopOf(() => server.connect());
    const { container } = startRun();
    const binding = new ToolBinding({ container });
    const discovery = container.resolve(ToolsetDiscovery);
    const classes = [await discovery.discover(Shop, binding), await discovery.discover(Shop, binding)];
    expect(bindings).toEqual([binding, binding]);
    for (const toolClass of classes.flatMap(([first]) => first ?? [])) await new toolClass(binding).close();
    expect(server.connections).toBe(0);
  });
});

describe('R5: a client factory that does not settle while its run is cancelled', () => {
  function late(settle: () => Promise<unknown>) {
    const { promise: called, resolve: enter } = deferred();
    const { promise: gate, resolve: open } = deferred();
    const { Shop } = shopOf(async () => {
      enter();
      await gate;
      return settle();
    });
    return { Shop, called, open };
  }

  it.each<[string, (run: ReturnType<typeof startRun>) => unknown]>([
    ['cancel', (run) => run.cancel('enough')],
    ['close', (run) => run.close()],
  ])('is not waited for (%s), and the connected client that it returns late is closed', async (_, end) => {
    const { promise: closed, resolve: onclose } = deferred();
    const { Shop, called, open } = late(async () => {
      const [transport, far] = InMemoryTransport.createLinkedPair();
      const server = new Server({ name: 'late', version: '1.0.0' });
      server.onclose = onclose;
      await server.connect(far);
      const client = new Client({ name: 'app', version: '1.0.0' });
      await client.connect(transport);
      return { client, transport };
    });
    const run = startRun();
    const outcome = expect(discover(Shop, run)).rejects.toBeInstanceOf(CancelledError);
    await called;
    void end(run);
    await outcome;
    open();
    await closed;
  });

  it('closes the transport of what it returns unconnected', async () => {
    const { promise: closed, resolve: onclose } = deferred();
    const { Shop, called, open } = late(async () => {
      const [transport, far] = InMemoryTransport.createLinkedPair();
      far.onclose = onclose;
      return { client: new Client({ name: 'app', version: '1.0.0' }), transport };
    });
    const run = startRun();
    const outcome = expect(discover(Shop, run)).rejects.toBeInstanceOf(CancelledError);
    await called;
    run.cancel();
    await outcome;
    open();
    await closed;
  });

  it('may fail late, or return nonsense, without a trace', async () => {
    for (const settle of [() => Promise.reject(new Error('late')), async () => null]) {
      const { promise: settled, resolve } = deferred();
      const { Shop, called, open } = late(() => settle().finally(resolve));
      const run = startRun();
      const outcome = expect(discover(Shop, run)).rejects.toBeInstanceOf(CancelledError);
      await called;
      run.cancel();
      await outcome;
      open();
      await settled;
    }
  });
});
