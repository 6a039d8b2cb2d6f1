import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CancelledError,
  CatalogStore,
  ClientFactory,
  ConfigurationError,
  configureMcpToolset,
  CreateClient,
  MapTool,
  McpToolset,
  ProviderError,
  SessionRegistry,
  ToolBinding,
  ToolRegistry,
  ToolsetDiscovery,
  type McpToolClass,
  type Run,
  type RunOptions,
  type ToolsetClass,
  type UnconnectedClient,
} from 'mcp-toolset';
import { createTestServer, overrideClient } from 'mcp-toolset/testing';
import { container } from 'tsyringe';
import { closeRunsAfterEach, gate, httpClient, registered, startRun, toolsetFor } from '../contract/live-run';
import { closeServersAfterEach, startRawHttp, text, tool, type RawHttpScript, type RawHttpServer } from '../servers';

closeServersAfterEach();
closeRunsAfterEach();

const MINUTE = 60_000;
const TOOLS = [tool('search'), tool('fetch')];
const methods = (server: RawHttpServer): string[] => server.requests.map(({ method }) => method);
const count = (server: RawHttpServer, wanted: string): number =>
  methods(server).filter((method) => method === wanted).length;
const lists = (server: RawHttpServer): number => count(server, 'tools/list');

/** A server of two tools and a toolset that shares its catalog. */
async function shop(
  script: RawHttpScript = {},
  catalog: { ttl?: number; key?: (binding: ToolBinding) => string | Promise<string> } = {},
): Promise<{ server: RawHttpServer; toolset: ToolsetClass }> {
  const server = await startRawHttp({ tools: TOOLS, ...script });
  return { server, toolset: toolsetFor(server.connection, { catalog: { ttl: MINUTE, ...catalog } }) };
}

/** The registry of a run of its own. */
const register = (toolset: ToolsetClass, options: RunOptions = {}): Promise<ToolRegistry> =>
  registered(startRun(options), toolset);

const discover = (toolset: ToolsetClass, run: Run): Promise<McpToolClass[]> =>
  run.resolve(ToolsetDiscovery).discover(toolset, run.resolve(ToolBinding));

describe('runs that share a catalog', () => {
  it('fetch it once, and one that calls nothing sends nothing', async () => {
    const { server, toolset } = await shop();
    const first = startRun();
    await registered(first, toolset);
    await first.close();
    const sent = server.requests.length;
    for (let count = 0; count < 3; count += 1) {
      const run = startRun();
      expect((await registered(run, toolset)).names).toEqual(['search', 'fetch']);
      expect(container.resolve(SessionRegistry).size).toBe(0);
      await run.close();
    }
    expect(server.requests).toHaveLength(sent);
  });

  it('have one fetch in flight, however many they are', async () => {
    const all = gate();
    const { server, toolset } = await shop({
      tools: async () => {
        await all.passed;
        return TOOLS;
      },
    });
    const registries = Array.from({ length: 20 }, () => register(toolset));
    await server.waitFor('tools/list');
    all.open();
    for (const registry of await Promise.all(registries)) expect(registry.names).toEqual(['search', 'fetch']);
    expect(lists(server)).toBe(1);
    expect(methods(server).filter((method) => method === 'initialize')).toHaveLength(1);
  });

  it('connect at the first call, once, each by a session of its own', async () => {
    const { server, toolset } = await shop();
    const registries = [await register(toolset), await register(toolset), await register(toolset)];
    expect(server.sessions).toHaveLength(1);
    const calls = registries.flatMap((registry) =>
      [1, 2].map((q) => registry.execute({ name: 'search', input: { q } })),
    );
    for (const { content } of await Promise.all(calls))
      expect(JSON.parse(content)).toEqual({ q: expect.any(Number) as number });
    expect(server.sessions).toHaveLength(3);
    expect(
      new Set(server.requests.filter(({ method }) => method === 'tools/call').map(({ sessionId }) => sessionId)).size,
    ).toBe(3);
  });

  it('share the classes too, which none of them can change', async () => {
    const { toolset } = await shop();
    const [one, other] = [startRun(), startRun()];
    const classes = await discover(toolset, one);
    expect(await discover(toolset, other)).toEqual(classes);
    const [search] = classes;
    expect(() => ((search as { description: string }).description = 'mine')).toThrow(TypeError);
    expect(() => Object.assign(search?.mcpTool ?? {}, { name: 'mine' })).toThrow(TypeError);
    expect(() => Object.assign(search?.inputSchema ?? {}, { properties: {} })).toThrow(TypeError);
  });

  it('call with their own credentials by the shared classes', async () => {
    const { server, toolset } = await perUser('everyone');
    for (const actorId of ['ada', 'bob']) {
      const registry = await register(toolset, { actorId });
      await registry.execute({ name: 'search' });
      expect(server.requests.findLast(({ method }) => method === 'tools/call')?.headers.authorization).toBe(
        `Bearer ${actorId}`,
      );
    }
    expect(lists(server)).toBe(1);
  });

  it('do not lend a class to a run that has not discovered its toolset', async () => {
    const { toolset } = await shop();
    const [search] = await discover(toolset, startRun());
    const registry = startRun().resolve(ToolRegistry);
    await expect(registry.register(search!)).rejects.toThrow(/generated for another run/);
  });

  it('have classes of their own where @MapTool may change them', async () => {
    const server = await startRawHttp({ tools: TOOLS });
    @McpToolset({ connection: server.connection, catalog: { ttl: MINUTE } })
    class Mapped {
      @MapTool()
      map(generated: McpToolClass, { binding }: { binding: ToolBinding }): McpToolClass {
        generated.toolName = `${binding.run?.invocation.actorId}_${generated.toolName}`;
        return generated;
      }
    }
    expect((await register(Mapped, { actorId: 'ada' })).names).toEqual(['ada_search', 'ada_fetch']);
    expect((await register(Mapped, { actorId: 'bob' })).names).toEqual(['bob_search', 'bob_fetch']);
    expect(lists(server)).toBe(1);
  });

  it('need not be runs: a registry without one connects and closes as ever', async () => {
    const { server, toolset } = await shop();
    await register(toolset);
    const registry = new ToolRegistry(new ToolBinding({ container }));
    await registry.register(toolset);
    expect(server.sessions).toHaveLength(1);
    expect(await registry.execute({ name: 'search' })).toMatchObject({ status: 'success' });
    expect(server.sessions).toHaveLength(2);
    await registry.close();
    expect(server.sessions).toHaveLength(1);
    expect(lists(server)).toBe(1);
  });

  it('are not those of a test that puts another server behind the toolset', async () => {
    const { toolset } = await shop();
    await register(toolset);
    const server = createTestServer({ tools: { fake: { call: () => 'fake' } } });
    const child = container.createChildContainer();
    overrideClient(child, toolset, server);
    expect((await register(toolset, { container: child })).names).toEqual(['fake']);
    expect((await register(toolset)).names).toEqual(['search', 'fetch']);
  });
});

/** A toolset that calls with the credentials of its run's user. */
async function perUser(
  key: string | ((binding: ToolBinding) => string),
): Promise<{ server: RawHttpServer; toolset: ToolsetClass }> {
  const server = await startRawHttp({
    tools: (_params, { headers }) => [tool('search'), tool(`of-${headers.authorization?.slice('Bearer '.length)}`)],
  });
  const toolset = toolsetFor(
    ({ run }) => ({ ...server.connection, headers: { authorization: `Bearer ${run?.invocation.actorId}` } }),
    { catalog: { ttl: MINUTE, key: typeof key === 'string' ? () => key : key } },
  );
  return { server, toolset };
}

describe('the key of a catalog', () => {
  it('says whose it is: catalogs of different keys never mix', async () => {
    const { server, toolset } = await perUser(({ run }) => run?.invocation.actorId ?? '');
    for (const actorId of ['ada', 'bob', 'ada', 'bob']) {
      expect((await register(toolset, { actorId })).names).toEqual(['search', `of-${actorId}`]);
    }
    expect(lists(server)).toBe(2);
  });

  it('has no special names', async () => {
    const { toolset } = await perUser(({ run }) => run?.invocation.actorId ?? '');
    for (const actorId of ['__proto__', 'constructor', '__proto__']) {
      expect((await register(toolset, { actorId })).names).toEqual(['search', `of-${actorId}`]);
    }
  });

  it('must be there where the connection depends on the binding', () => {
    expect(() => toolsetFor(() => ({ url: 'https://mcp.example' }), { name: 'Keyless', catalog: { ttl: 1 } })).toThrow(
      /Keyless.*"catalog" needs a "key"/,
    );
    expect(() => {
      @McpToolset({ catalog: { ttl: 1 } })
      class Built {
        @CreateClient()
        client() {
          return {
            client: new Client({ name: 'a', version: '1' }),
            transport: new StreamableHTTPClientTransport(new URL('https://mcp.example')),
          };
        }
      }
      return Built;
    }).toThrow(ConfigurationError);
  });

  it.each([[''], [undefined], [7], [null]])('must be a string that is not empty, not %p', async (value) => {
    const { toolset } = await shop({}, { key: () => value as string });
    await expect(register(toolset)).rejects.toThrow(/"key" of option "catalog" returned/);
  });

  it('is asked for with the binding, and what it throws propagates as it is', async () => {
    const refusal = new ProviderError('no tenant');
    const bindings: ToolBinding[] = [];
    const { server, toolset } = await shop(
      {},
      {
        key: (binding) => {
          bindings.push(binding);
          return Promise.reject(refusal);
        },
      },
    );
    const run = startRun();
    await expect(registered(run, toolset)).rejects.toBe(refusal);
    expect(bindings[0]?.run).toBe(run);
    expect(server.requests).toEqual([]);
  });

  it('that is never told ends with the run', async () => {
    const { toolset } = await shop({}, { key: () => new Promise<string>(() => undefined) });
    const run = startRun();
    const registering = expect(registered(run, toolset)).rejects.toThrow(CancelledError);
    await run.close();
    await registering;
  });

  it('says nothing to containers with factories of their own: their servers differ', async () => {
    class TenantFactory extends ClientFactory {
      constructor(private readonly server: RawHttpServer) {
        super();
      }

      override create(): Promise<UnconnectedClient> {
        return Promise.resolve(httpClient(this.server.url));
      }
    }
    const servers = [
      await startRawHttp({ tools: [tool('only_t1')] }),
      await startRawHttp({ tools: [tool('only_t2')] }),
    ];
    @McpToolset({
      connection: { url: 'https://mcp.example' },
      catalog: { ttl: MINUTE },
      session: { scope: 'application', key: () => 'one', idleTimeout: 1 },
    })
    class Tenants {}
    for (const [index, server] of [...servers, ...servers].entries()) {
      const child = container.createChildContainer();
      child.registerInstance(ClientFactory, new TenantFactory(server));
      const run = startRun({ container: child });
      const registry = await registered(run, Tenants);
      expect(registry.names).toEqual([`only_t${(index % 2) + 1}`]);
      expect(await registry.execute({ name: registry.names[0] ?? '' })).toMatchObject({ status: 'success' });
      await run.close();
    }
    for (const server of servers) {
      await server.waitFor('DELETE', 2);
      expect(lists(server)).toBe(2);
    }
  });

  it.each([
    [ClientFactory, class OwnFactory extends ClientFactory {}],
    [CatalogStore, class OwnStore extends CatalogStore {}],
  ])('is of no use where the container makes a new %p each time, which is an error', async (token, own) => {
    const { toolset } = await shop();
    const child = container.createChildContainer();
    child.register<object>(token, { useClass: own });
    await expect(register(toolset, { container: child })).rejects.toThrow(
      new RegExp(`makes a new ${own.name} whenever it is asked for a ${token.name}, so runs would share nothing`),
    );
    child.registerSingleton<object>(token, own);
    expect((await register(toolset, { container: child })).names).toEqual(['search', 'fetch']);
  });

  it('and the other options are checked, and inherited', async () => {
    const wrong = { connection: { url: 'https://mcp.example' } };
    expect(() => toolsetFor(wrong.connection, { catalog: { ttl: 0 } })).toThrow(/"catalog.ttl"/);
    expect(() => toolsetFor(wrong.connection, { catalog: {} as { ttl: number } })).toThrow(/"catalog.ttl"/);
    expect(() => toolsetFor(wrong.connection, { catalog: { ttl: 1, key: 'x' as never } })).toThrow(/"catalog.key"/);
    const { server, toolset } = await shop();
    @McpToolset({ tools: { include: ['fetch'] } })
    class Child extends toolset {}
    expect((await register(Child)).names).toEqual(['fetch']);
    expect((await register(Child)).names).toEqual(['fetch']);
    expect(lists(server)).toBe(1);
  });
});

describe('a shared catalog is fetched again', () => {
  it('after its time', async () => {
    const { server, toolset } = await shop({}, { ttl: 1 });
    await register(toolset);
    await new Promise((resolve) => setTimeout(resolve, 5));
    server.script.tools = [tool('new')];
    expect((await register(toolset)).names).toEqual(['new']);
  });

  it('when the server says that it has changed, and not for the runs that have it', async () => {
    const { server, toolset } = await shop({
      call: (_params, exchange) =>
        void exchange.sse().notify('notifications/tools/list_changed').reply(text('done')).end(),
    });
    const registry = await register(toolset);
    server.script.tools = [tool('new')];
    await registry.execute({ name: 'search' });
    expect((await register(toolset)).names).toEqual(['new']);
    expect(registry.names).toEqual(['search', 'fetch']);
  });

  it.each<[string, NonNullable<RawHttpScript['call']>]>([
    ['by an error', (_params, exchange) => exchange.error(-32602, 'Unknown tool: search')],
    ["as the SDK's server does", () => text('MCP error -32602: Tool search not found', { isError: true })],
  ])('when the server does not know a tool of it, %s', async (_, call) => {
    const { server, toolset } = await shop({ call });
    expect(await (await register(toolset)).execute({ name: 'search' })).toMatchObject({ status: 'error' });
    server.script.tools = [tool('new')];
    expect((await register(toolset)).names).toEqual(['new']);
  });

  it.each<[string, NonNullable<RawHttpScript['call']>]>([
    ['an error of another kind', (_params, exchange) => exchange.error(-32602, 'Invalid arguments for tool search')],
    ['an error of the tool', () => text('The page was not found', { isError: true })],
    ['a result with such words', () => text('Unknown tool: search')],
    ['an error that names no tool', () => text('Tool run finished: record not found', { isError: true })],
  ])('and not after %s', async (_, call) => {
    const { server, toolset } = await shop({ call });
    await (await register(toolset)).execute({ name: 'search' });
    await register(toolset);
    expect(lists(server)).toBe(1);
  });

  it('when the one that was being fetched has been announced to have changed meanwhile', async () => {
    const { server, toolset } = await shop({
      tools: (_params, exchange) =>
        void exchange
          .sse()
          .notify('notifications/tools/list_changed')
          .reply({ tools: [tool('old')] })
          .end(),
    });
    expect((await register(toolset)).names).toEqual(['old']);
    server.script.tools = [tool('new')];
    expect((await register(toolset)).names).toEqual(['new']);
  });

  it('each time that the server says so, also while it is fetched again for that, and after', async () => {
    const { server, toolset } = await shop({
      call: (_params, exchange) =>
        void exchange.sse().notify('notifications/tools/list_changed').reply(text('done')).end(),
    });
    const registry = await register(toolset);
    const change = async (): Promise<unknown> => registry.execute({ name: 'search' });
    await change();
    server.script.tools = async () => {
      await change();
      return [tool('old')];
    };
    expect((await register(toolset)).names).toEqual(['old']);
    server.script.tools = [tool('new')];
    expect((await register(toolset)).names).toEqual(['new']);
    await change();
    server.script.tools = [tool('newest')];
    expect((await register(toolset)).names).toEqual(['newest']);
  });
});

describe('a fetch that fails', () => {
  it('is not remembered', async () => {
    const { server, toolset } = await shop({ tools: (_params, exchange) => exchange.error(-32000, 'not yet') });
    await expect(register(toolset)).rejects.toThrow(/not yet/);
    server.script.tools = TOOLS;
    expect((await register(toolset)).names).toEqual(['search', 'fetch']);
  });

  it('fails for all that wait for it', async () => {
    const all = gate();
    const { server, toolset } = await shop({
      tools: async (_params, exchange) => {
        await all.passed;
        exchange.raw(503, {}, 'overloaded');
      },
    });
    const registries = Array.from({ length: 5 }, () => register(toolset));
    const outcomes = Promise.allSettled(registries);
    await server.waitFor('tools/list');
    all.open();
    for (const outcome of await outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(ProviderError) as unknown });
    expect(lists(server)).toBe(1);
  });

  it('because its own run is cancelled is taken over by another', async () => {
    const { server, toolset } = await shop({
      tools: (_params, exchange) => (lists(server) === 1 ? exchange.hang() : TOOLS),
    });
    const first = startRun();
    const lost = registered(first, toolset);
    await server.waitFor('tools/list');
    const waiting = [register(toolset), register(toolset)];
    first.cancel();
    await expect(lost).rejects.toThrow(CancelledError);
    for (const registry of await Promise.all(waiting)) expect(registry.names).toEqual(['search', 'fetch']);
    expect(lists(server)).toBe(2);
  });

  it('because of that is taken over by one other, however often', async () => {
    const { server, toolset } = await shop({
      tools: (_params, exchange) => (lists(server) <= 4 ? exchange.hang() : TOOLS),
    });
    const cancelled = Array.from({ length: 4 }, () => startRun());
    const lost = Promise.allSettled(cancelled.map((run) => registered(run, toolset)));
    const waiting = Array.from({ length: 9 }, () => register(toolset));
    for (const [index, run] of cancelled.entries()) {
      await server.waitFor('tools/list', index + 1);
      run.cancel();
    }
    for (const registry of await Promise.all(waiting)) expect(registry.names).toEqual(['search', 'fetch']);
    expect(lists(server)).toBe(5);
    await lost;
  });

  it('for want of the credentials of its own user is taken over by another', async () => {
    const refused = gate();
    const server = await startRawHttp({
      sessions: false,
      tools: async (_params, exchange) => {
        if (exchange.headers.authorization === 'Bearer ada') return TOOLS;
        await refused.passed;
        exchange.raw(401, {}, 'who are you?');
      },
    });
    const toolset = toolsetFor(
      ({ run }) => ({ ...server.connection, headers: { authorization: `Bearer ${run?.invocation.actorId}` } }),
      { catalog: { ttl: MINUTE, key: () => 'everyone' } },
    );
    const lost = register(toolset, { actorId: 'mallory' });
    const outcome = expect(lost).rejects.toThrow(/HTTP 401/);
    await server.waitFor('tools/list');
    const waiting = register(toolset, { actorId: 'ada' });
    refused.open();
    await outcome;
    expect((await waiting).names).toEqual(['search', 'fetch']);
  });

  it('for want of them does not have the others wait for each that is refused: up to eight fetch at a time', async () => {
    let held: (() => void)[] = [];
    let most = 0;
    const server = await startRawHttp({
      sessions: false,
      tools: async (_params, exchange) => {
        await new Promise<void>((resolve) => (most = Math.max(most, held.push(resolve))));
        if (exchange.headers.authorization === 'Bearer ada') return TOOLS;
        exchange.raw(401, {}, 'who are you?');
      },
    });
    const toolset = toolsetFor(
      ({ run }) => ({ ...server.connection, headers: { authorization: `Bearer ${run?.invocation.actorId}` } }),
      { catalog: { ttl: MINUTE, key: () => 'everyone' } },
    );
    const refused = Promise.allSettled(Array.from({ length: 1 + 2 + 8 + 8 }, () => register(toolset)));
    const waiting = Array.from({ length: 9 }, () => register(toolset, { actorId: 'ada' }));
    let total = 0;
    for (const fetches of [1, 2, 8, 8, 8]) {
      await server.waitFor('tools/list', (total += fetches));
      expect(held).toHaveLength(fetches);
      const together = held;
      held = [];
      for (const release of together) release();
    }
    for (const { names } of await Promise.all(waiting)) expect(names).toEqual(['search', 'fetch']);
    expect(most).toBe(8);
    await refused;
  });

  it('for want of them does not have the others wait for one that its server leaves without an answer', async () => {
    const refused = gate();
    const server = await startRawHttp({
      sessions: false,
      tools: async (_params, exchange) => {
        if (exchange.headers.authorization === 'Bearer ada') return TOOLS;
        if (exchange.headers.authorization === 'Bearer hung') return exchange.hang();
        await refused.passed;
        exchange.raw(401, {}, 'who are you?');
      },
    });
    const toolset = toolsetFor(
      ({ run }) => ({ ...server.connection, headers: { authorization: `Bearer ${run?.invocation.actorId}` } }),
      { catalog: { ttl: MINUTE, key: () => 'everyone' } },
    );
    const outcome = expect(register(toolset, { actorId: 'mallory' })).rejects.toThrow(/HTTP 401/);
    await server.waitFor('tools/list');
    const run = startRun({ actorId: 'hung' });
    const hung = expect(registered(run, toolset)).rejects.toThrow(CancelledError);
    const waiting = [1, 2].map(() => register(toolset, { actorId: 'ada' }));
    refused.open();
    await outcome;
    for (const { names } of await Promise.all(waiting)) expect(names).toEqual(['search', 'fetch']);
    await run.close();
    await hung;
  });

  it('for want of them while a forgotten session is opened anew is, too', async () => {
    const forgotten = gate();
    const server = await startRawHttp({
      on: {
        initialize: (exchange) =>
          exchange.headers.authorization === 'Bearer ada' || count(server, 'initialize') === 1
            ? exchange.polite()
            : exchange.raw(401, {}, 'who are you?'),
      },
      tools: async (_params, exchange) => {
        if (exchange.headers.authorization === 'Bearer ada') return TOOLS;
        await forgotten.passed;
        exchange.raw(404, {}, 'no such session');
      },
    });
    const toolset = toolsetFor(
      ({ run }) => ({ ...server.connection, headers: { authorization: `Bearer ${run?.invocation.actorId}` } }),
      { catalog: { ttl: MINUTE, key: () => 'everyone' } },
    );
    const outcome = expect(register(toolset, { actorId: 'mallory' })).rejects.toThrow(/could not be opened/);
    await server.waitFor('tools/list');
    const waiting = register(toolset, { actorId: 'ada' });
    forgotten.open();
    await outcome;
    expect((await waiting).names).toEqual(['search', 'fetch']);
  });

  it('does not wait for one that its own run no longer needs', async () => {
    const { server, toolset } = await shop({ tools: (_params, exchange) => exchange.hang() });
    const first = register(toolset);
    first.catch(() => undefined);
    await server.waitFor('tools/list');
    const second = startRun();
    const waiting = registered(second, toolset);
    second.cancel();
    await expect(waiting).rejects.toThrow(CancelledError);
  });
});

describe('connecting at the first call', () => {
  it('fails for that call, which was not sent, and is tried again by the next', async () => {
    const { server, toolset } = await shop();
    await register(toolset);
    const registry = await register(toolset);
    server.script.on = { initialize: (exchange) => exchange.raw(503, {}, 'overloaded') };
    const { status, content, error } = await registry.execute({ name: 'search' });
    expect({ status, content }).toEqual({
      status: 'error',
      content: 'Tool failed (ProviderError). The call was not sent.',
    });
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ outcome: 'not-sent', message: expect.stringContaining('HTTP 503') as string });
    server.script.on = {};
    expect(await registry.execute({ name: 'search', input: { q: 1 } })).toMatchObject({ content: '{"q":1}' });
  });

  it('fails with what the application threw', async () => {
    const boom = new Error('no token');
    let mayConnect = true;
    const server = await startRawHttp({ tools: TOOLS });
    const toolset = toolsetFor(
      () => {
        if (mayConnect) return server.connection;
        throw boom;
      },
      { catalog: { ttl: MINUTE, key: () => 'all' } },
    );
    await register(toolset);
    mayConnect = false;
    expect((await (await register(toolset)).execute({ name: 'search' })).error).toBe(boom);
  });

  it('ends with the run', async () => {
    const { server, toolset } = await shop();
    await register(toolset);
    const run = startRun();
    const registry = await registered(run, toolset);
    server.script.on = { initialize: (exchange) => exchange.hang() };
    const call = registry.execute({ name: 'search' });
    await server.waitFor('initialize', 2);
    run.cancel();
    await expect(call).rejects.toMatchObject({ code: 'cancelled', outcome: 'not-sent' });
  });
});

it('a warning of the catalog is given once, not in every run', async () => {
  const warnings: string[] = [];
  const child = container.createChildContainer();
  configureMcpToolset(child, {
    logger: { debug: () => undefined, error: () => undefined, warn: (message) => warnings.push(message) },
  });
  const { toolset } = await shop({ tools: [...TOOLS, 'no tool'] });
  for (let count = 0; count < 3; count += 1) await register(toolset, { container: child });
  expect(warnings).toHaveLength(1);
});
