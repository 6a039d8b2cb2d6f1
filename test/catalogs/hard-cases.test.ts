import { setImmediate } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import Keyv from 'keyv';
import {
  CancelledError,
  CatalogStore,
  ConfigurationError,
  configureMcpToolset,
  CreateClient,
  McpToolset,
  SessionRegistry,
  ToolRegistry,
  type Run,
  type RunOptions,
  type ToolsetClass,
  type UnconnectedClient,
} from 'mcp-toolset';
import { container } from 'tsyringe';
import { closeRunsAfterEach, gate, registered, startRun, toolsetFor } from '../contract/live-run';
import { closeServersAfterEach, startRawHttp, tool } from '../servers';

afterEach(() => container.resolve(SessionRegistry).closeAll());
closeServersAfterEach();
closeRunsAfterEach();

const MINUTE = 60_000;
const TOOLS = [tool('search')];
const bearer = ({ run }: { run?: Run | undefined }): string => `Bearer ${String(run?.invocation.context.token)}`;

const register = (toolset: ToolsetClass, options: RunOptions = {}): Promise<ToolRegistry> =>
  registered(startRun(options), toolset);

/** A run of a process that has this store. */
function runWith(store: CatalogStore): Run {
  const child = container.createChildContainer();
  child.registerInstance(CatalogStore, store);
  return startRun({ container: child });
}

it('a fetch that fails because its user is refused when its session is opened anew is taken over by another', async () => {
  const forget = gate();
  const server = await startRawHttp({
    tools: async (_params, exchange) => {
      if (exchange.headers.authorization === 'Bearer ada') return TOOLS;
      await forget.passed;
      exchange.raw(404, {}, 'no such session');
    },
    on: {
      initialize: (exchange) =>
        exchange.headers.authorization === 'Bearer mallory' &&
        server.requests.some(({ method }) => method === 'tools/list')
          ? exchange.raw(401, {}, 'who are you?')
          : exchange.polite(),
    },
  });
  const toolset = toolsetFor((binding) => ({ ...server.connection, headers: { authorization: bearer(binding) } }), {
    catalog: { ttl: MINUTE, key: () => 'everyone' },
  });
  const lost = expect(register(toolset, { context: { token: 'mallory' } })).rejects.toThrow(/HTTP 401/);
  await server.waitFor('tools/list');
  const waiting = register(toolset, { context: { token: 'ada' } });
  forget.open();
  await lost;
  expect((await waiting).names).toEqual(['search']);
});

it.each(['catalog', 'session'])(
  'a run that ends while the key of its %s is asked for ends its discovery',
  async (option) => {
    const server = await startRawHttp({ tools: TOOLS });
    const asked = gate();
    const answer = gate<string>();
    const key = () => {
      asked.open();
      return answer.passed;
    };
    const toolset = toolsetFor(server.connection, {
      [option]: option === 'catalog' ? { ttl: MINUTE, key } : { scope: 'application', key },
    });
    const run = startRun();
    const outcome = registered(run, toolset).then(
      () => 'registered',
      (error: unknown) => error,
    );
    await asked.passed;
    run.cancel();
    expect(await outcome).toBeInstanceOf(CancelledError);
    answer.open('late');
  },
);

it('a catalog that was announced to have changed while it was fetched is not kept by the store', async () => {
  const keyv = new Keyv();
  const server = await startRawHttp({
    tools: (_params, exchange) =>
      void exchange
        .sse()
        .notify('notifications/tools/list_changed')
        .reply({ tools: [tool('old')] })
        .end(),
  });
  const toolset = toolsetFor(server.connection, { catalog: { ttl: MINUTE } });
  expect((await registered(runWith(CatalogStore.over(keyv)), toolset)).names).toEqual(['old']);
  await setImmediate();
  server.script.tools = [tool('new')];
  expect((await registered(runWith(CatalogStore.over(keyv)), toolset)).names).toEqual(['new']);
});

it('a run that starts while a changed catalog is being written does not have it from the store', async () => {
  const keyv = new Keyv();
  const stored = gate();
  const confirmed = gate();
  const store = CatalogStore.over({
    get: (key) => keyv.get(key),
    set: async (key, value, ttl) => {
      await keyv.set(key, value, ttl);
      stored.open();
      await confirmed.passed;
    },
    delete: (key) => keyv.delete(key),
  });
  const server = await startRawHttp({
    tools: [tool('old')],
    call: (_params, exchange) =>
      void exchange.sse().notify('notifications/tools/list_changed').reply({ content: [] }).end(),
  });
  const toolset = toolsetFor(server.connection, { catalog: { ttl: MINUTE } });
  const registry = await registered(runWith(store), toolset);
  await stored.passed;
  server.script.tools = [tool('new')];
  await registry.execute({ name: 'old' });
  const next = (await registered(runWith(store), toolset)).names;
  confirmed.open();
  expect(next).toEqual(['new']);
});

it.each(['set', 'delete'] as const)(
  'a store whose %s throws a ConfigurationError leaves no unhandled rejection',
  async (what) => {
    const keyv = new Keyv();
    const fail = () => Promise.reject(new ConfigurationError('the store is not set up'));
    const store = CatalogStore.over({
      get: (key) => keyv.get(key),
      set: (key, value, ttl) => keyv.set(key, value, ttl),
      delete: (key) => keyv.delete(key),
      [what]: fail,
    });
    const server = await startRawHttp({
      tools: [tool('old')],
      call: (_params, exchange) =>
        void exchange.sse().notify('notifications/tools/list_changed').reply({ content: [] }).end(),
    });
    const toolset = toolsetFor(server.connection, { catalog: { ttl: MINUTE } });
    const rejections: unknown[] = [];
    const note = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', note);
    try {
      const registry = await registered(runWith(store), toolset);
      await registry.execute({ name: 'old' });
      await setImmediate();
      await setImmediate();
    } finally {
      process.off('unhandledRejection', note);
    }
    expect(rejections).toEqual([]);
  },
);

it('R11: the limits of a run hold also for a catalog that another run has fetched', async () => {
  const server = await startRawHttp({ tools: [tool('a'), tool('b')] });
  const toolset = toolsetFor(server.connection, { catalog: { ttl: MINUTE } });
  await register(toolset);
  const strict = container.createChildContainer();
  configureMcpToolset(strict, { limits: { maxTools: 1 } });
  await expect(register(toolset, { container: strict })).rejects.toThrow(/maxTools/);
});

it('what a store has kept that cannot be shared costs a warning and no run', async () => {
  const server = await startRawHttp({ tools: TOOLS });
  const toolset = toolsetFor(server.connection, { catalog: { ttl: MINUTE } });
  const kept = { at: Date.now(), tools: [{ ...tool('kept'), extra: new Uint8Array(4) }] };
  const store = CatalogStore.over({
    get: () => Promise.resolve(kept),
    set: () => Promise.resolve(true),
    delete: () => Promise.resolve(true),
  });
  await expect(registered(runWith(store), toolset)).resolves.toBeInstanceOf(ToolRegistry);
});

it('what runs share does not freeze the objects of a server in the same process', async () => {
  const definition = { name: 'x', description: 'one', inputSchema: { type: 'object' as const } };
  @McpToolset({ catalog: { ttl: MINUTE, key: () => 'all' } })
  class Built {
    @CreateClient()
    async client(): Promise<UnconnectedClient> {
      const [transport, end] = InMemoryTransport.createLinkedPair();
      const server = new Server({ name: 'memory', version: '1' }, { capabilities: { tools: {} } });
      server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [definition] }));
      await server.connect(end);
      return { client: new Client({ name: 'application', version: '1' }), transport };
    }
  }
  await register(Built);
  expect(Object.isFrozen(definition)).toBe(false);
});
