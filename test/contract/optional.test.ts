import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CancelledError,
  ConfigurationError,
  CreateClient,
  DeadlineExceededError,
  MapTool,
  McpToolset,
  OnError,
  ProtocolError,
  ProviderError,
  ToolRegistry,
  type McpToolClass,
  type McpToolsetError,
  type OnErrorContext,
  type Run,
  type ToolsetClass,
  type ToolsetOptions,
  type UnconnectedClient,
} from 'mcp-toolset';
import type { InjectionToken } from 'tsyringe';
import { overrideClient } from 'mcp-toolset/testing';
import { leapingClock, LIMIT } from '../leaping-clock';
import {
  closeServersAfterEach,
  rawStdio,
  startRawHttp,
  tool,
  waitForNoChildren,
  type HttpExchange,
  type RawHttpScript,
  type RawHttpServer,
  type RawStdioScript,
} from '../servers';
import { rejection, shop, useCatalogScene } from './catalog-scene';

const scene = useCatalogScene();
closeServersAfterEach();
const clock = leapingClock();

type ConnectionSource = NonNullable<ToolsetOptions['connection']>;

/** What an `@OnError` method was told. */
interface Report {
  readonly error: McpToolsetError;
  readonly run: Run | undefined;
}

/** An optional toolset that keeps what its `@OnError` is told. */
function flaky(connection: ConnectionSource, options: ToolsetOptions = {}): { Flaky: ToolsetClass; reports: Report[] } {
  const reports: Report[] = [];
  @McpToolset({ connection, optional: true, ...options })
  class Flaky {
    @OnError()
    report(error: McpToolsetError, { binding }: OnErrorContext): void {
      reports.push({ error, run: binding.run });
    }
  }
  return { Flaky, reports };
}

const html = (exchange: HttpExchange): void => exchange.raw(200, { 'content-type': 'text/html' }, '<h1>Log in</h1>');
const json = (body: string) => (exchange: HttpExchange) =>
  exchange.raw(200, { 'content-type': 'application/json' }, body);

/** The sessions that are open on a server that was asked for its tools. */
function sessionsOfListing(server: RawHttpServer): readonly string[] {
  return server.requests.some(({ method }) => method === 'tools/list') ? server.sessions : [];
}

type Expected = readonly [what: string, script: RawHttpScript, type: typeof McpToolsetError, message: RegExp];

const overHttp: readonly Expected[] = [
  [
    'HTTP 500 while connecting',
    { on: { initialize: (exchange) => exchange.raw(500, {}, 'Ouch') } },
    ProviderError,
    /HTTP 500 \(Ouch\)/,
  ],
  ['HTTP 401 while connecting', { on: { initialize: (exchange) => exchange.raw(401) } }, ProviderError, /HTTP 401/],
  ['HTTP 404 while connecting', { on: { initialize: (exchange) => exchange.raw(404) } }, ProviderError, /HTTP 404/],
  ['a page of HTML while connecting', { on: { initialize: html } }, ProtocolError, /text\/html/],
  ['a body that is no JSON', { on: { initialize: json('{"jsonrpc":') } }, ProtocolError, /cannot be read/],
  ['a body that is no JSON-RPC message', { on: { initialize: json('{"ok":true}') } }, ProtocolError, /cannot be read/],
  ['a connection that is reset', { on: { initialize: (exchange) => exchange.destroy() } }, ProviderError, /initialize/],
  [
    'a JSON-RPC error in reply to initialize',
    { on: { initialize: (exchange) => exchange.error(-32000, 'Overloaded') } },
    ProviderError,
    /-32000.*Overloaded/,
  ],
  [
    'an empty result of initialize',
    { on: { initialize: (exchange) => exchange.json({}) } },
    ProtocolError,
    /initialize/,
  ],
  [
    'a version of the protocol that nobody knows',
    { initialize: { protocolVersion: '1999-12-31' } },
    ProtocolError,
    /1999-12-31/,
  ],
  [
    'a JSON-RPC error in reply to tools/list',
    { on: { 'tools/list': (exchange) => exchange.error(-32603, 'Database down') } },
    ProviderError,
    /tools\/list.*-32603.*Database down/,
  ],
  [
    "the SDK's own error codes from a server",
    { on: { 'tools/list': (exchange) => exchange.error(-32001, 'Request timed out') } },
    ProviderError,
    /-32001.*Request timed out/,
  ],
  ['HTTP 503 for the list', { on: { 'tools/list': (exchange) => exchange.raw(503) } }, ProviderError, /HTTP 503/],
  ['a page of HTML for the list', { on: { 'tools/list': html } }, ProtocolError, /text\/html/],
  ['a list that is cut off', { on: { 'tools/list': (exchange) => exchange.destroy() } }, ProviderError, /tools\/list/],
  ['a list of another shape', { tools: () => ({ tools: 'none' }) }, ProtocolError, /"tools" to be an array/],
  ['a list without one usable entry', { tools: [{ name: '' }] }, ProtocolError, /usable/],
  [
    'a second page that fails',
    {
      tools: ({ cursor }, exchange) =>
        cursor === undefined ? { tools: [tool('a')], nextCursor: 'two' } : void exchange.error(-32602, 'Bad cursor'),
    },
    ProviderError,
    /-32602.*Bad cursor/,
  ],
];

const overStdio: readonly (readonly [string, RawStdioScript, typeof McpToolsetError, RegExp])[] = [
  [
    'a child that exits at once',
    { on: { start: (exchange) => (exchange.stderr('no licence'), exchange.exit(3)) } },
    ProviderError,
    /no licence/,
  ],
  [
    'a child that exits instead of connecting',
    { on: { initialize: (exchange) => exchange.exit(1) } },
    ProviderError,
    /initialize/,
  ],
  [
    'a child that is killed',
    { on: { 'tools/list': (exchange) => exchange.die() } },
    ProviderError,
    /tools\/list|closed/,
  ],
  [
    'a child that refuses the list',
    { on: { 'tools/list': (exchange) => exchange.error(exchange.id, -32000, 'Locked') } },
    ProviderError,
    /Locked/,
  ],
];

describe('R10: an optional toolset whose server is at fault has no tools', () => {
  it.each(overHttp)('R10: %s: @OnError sees the translated error, once', async (_what, script, type, message) => {
    const server = await startRawHttp(script);
    const { Flaky, reports } = flaky(server.connection);
    const run = scene.run();
    const registry = run.resolve(ToolRegistry);

    await registry.register(Flaky);

    expect(registry.names).toEqual([]);
    expect(reports).toHaveLength(1);
    expect(reports[0]?.run).toBe(run);
    expect(reports[0]?.error).toBeInstanceOf(type);
    expect(reports[0]?.error).toMatchObject({ toolset: 'Flaky', message: expect.stringMatching(message) });
    expect(sessionsOfListing(server)).toEqual([]);
  });

  it.each(overHttp)('R10: %s: a toolset that is not optional throws it', async (_what, script, type, message) => {
    const server = await startRawHttp(script);
    const { Flaky, reports } = flaky(server.connection, { optional: false });

    const error = await rejection(scene.registered(Flaky));

    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ toolset: 'Flaky', message: expect.stringMatching(message) });
    expect(reports).toEqual([]);
    expect(sessionsOfListing(server)).toEqual([]);
  });

  it.each(overStdio)('R10: %s: @OnError sees the translated error, once', async (_what, script, type, message) => {
    const server = await rawStdio(script);
    const { Flaky, reports } = flaky(server.connection);

    expect((await scene.registered(Flaky)).names).toEqual([]);

    expect(reports.map(({ error }) => error)).toEqual([expect.any(type)]);
    expect(reports[0]?.error.message).toMatch(message);
    await waitForNoChildren();
  });

  it('R10: a server that does not run is a ProviderError', async () => {
    const server = await startRawHttp();
    await server.stop();
    const { Flaky, reports } = flaky(server.connection);

    expect((await scene.registered(Flaky)).names).toEqual([]);
    expect(reports.map(({ error }) => error)).toEqual([expect.any(ProviderError)]);
    expect(reports[0]?.error.message).toMatch(/cannot be reached/);
  });

  it('R10: an executable that does not exist is a ProviderError', async () => {
    const { Flaky, reports } = flaky({ command: 'there-is-no-such-executable' });
    expect((await scene.registered(Flaky)).names).toEqual([]);
    expect(reports.map(({ error }) => error)).toEqual([expect.any(ProviderError)]);
    expect(reports[0]?.error.message).toMatch(/cannot be reached/);
  });

  it.each(['initialize', 'tools/list'])('R10: a server that is too slow in %s is a ProviderError', async (method) => {
    const server = await startRawHttp({ on: { [method]: (exchange) => exchange.hang() } });
    const { Flaky, reports } = flaky(server.connection, { timeout: LIMIT });
    const registering = scene.registered(Flaky);
    await server.waitFor(method);
    clock.leap(LIMIT);
    expect((await registering).names).toEqual([]);
    expect(reports.map(({ error }) => error)).toEqual([expect.any(ProviderError)]);
    expect(reports[0]?.error.message).toMatch(new RegExp(`${method}: no answer within ${LIMIT} ms`));
  });

  it('R10: without an @OnError method it has no tools either, and a warning says why', async () => {
    const server = await startRawHttp({ on: { initialize: (exchange) => exchange.raw(500) } });
    expect((await scene.registered(shop(server.connection, { optional: true }))).names).toEqual([]);
    expect(scene.warnings).toEqual([
      expect.stringMatching(/^Toolset Shop is optional, and has no tools in this run: .*HTTP 500/),
    ]);
  });

  it('R10: with one, there is no warning', async () => {
    const server = await startRawHttp({ on: { initialize: (exchange) => exchange.raw(500) } });
    await scene.registered(flaky(server.connection).Flaky);
    expect(scene.warnings).toEqual([]);
  });

  it('R10: without a run too, and the error goes to @OnError with the binding', async () => {
    const server = await startRawHttp({ on: { 'tools/list': (exchange) => exchange.raw(500) } });
    const { Flaky, reports } = flaky(server.connection);
    const registry = scene.registryWithoutRun();
    await registry.register(Flaky);
    expect(registry.names).toEqual([]);
    expect(reports).toEqual([{ error: expect.any(ProviderError), run: undefined }]);
    expect(server.sessions).toEqual([]);
    await registry.close();
  });

  it('R10: the other toolsets of the call keep their tools', async () => {
    const broken = await startRawHttp({ on: { initialize: (exchange) => exchange.destroy() } });
    const healthy = await startRawHttp({ tools: [tool('search')] });
    const registry = await scene.registered(flaky(broken.connection).Flaky, shop(healthy.connection));
    expect(registry.names).toEqual(['search']);
  });

  it('R10: a server that recovers has its tools when it is discovered again in the run', async () => {
    const server = await startRawHttp({ tools: [tool('search')] });
    await server.stop();
    const { Flaky, reports } = flaky(server.connection);
    const registry = await scene.registered(Flaky);
    expect(reports).toHaveLength(1);

    await server.start();
    await registry.register(Flaky);
    expect(registry.names).toEqual(['search']);
    expect(reports).toHaveLength(1);
  });

  it('R10: two callers that discover at once share one report', async () => {
    const server = await startRawHttp({ on: { initialize: (exchange) => exchange.raw(500) } });
    const { Flaky, reports } = flaky(server.connection);
    const run = scene.run();
    expect(await Promise.all([scene.discovered(Flaky, run), scene.discovered(Flaky, run)])).toEqual([[], []]);
    expect(reports).toHaveLength(1);
  });

  it('R10: what @OnError awaits is over when the registration is', async () => {
    const server = await startRawHttp({ on: { initialize: (exchange) => exchange.raw(500) } });
    const steps: string[] = [];
    @McpToolset({ connection: server.connection, optional: true })
    class Flaky {
      @OnError()
      async report(): Promise<void> {
        await server.waitFor('initialize');
        steps.push('reported');
      }
    }
    await scene.registered(Flaky);
    expect(steps).toEqual(['reported']);
  });

  it.each([
    ['an error of its own', new Error('no toolset, no service')],
    ['the error that it was given', undefined],
    ['a ProviderError', new ProviderError('mine')],
    ['something that is no error', 'just text'],
  ])('R10: what @OnError throws propagates as it is: %s', async (_what, thrown) => {
    const server = await startRawHttp({ on: { 'tools/list': (exchange) => exchange.raw(500) } });
    let given: unknown;
    @McpToolset({ connection: server.connection, optional: true })
    class Strict {
      @OnError()
      async report(error: McpToolsetError): Promise<void> {
        given = error;
        throw thrown ?? error;
      }
    }
    expect(await rejection(scene.registered(Strict))).toBe(thrown ?? given);
    expect(given).toBeInstanceOf(ProviderError);
    expect(server.sessions).toEqual([]);
  });
});

/** Toolsets whose callback throws, by the callback; each is optional and its server is well. */
const callbacks: Readonly<Record<string, (connection: { url: string }, thrown: unknown) => ToolsetClass>> = {
  'the connection function': (_connection, thrown) =>
    flaky(() => {
      throw thrown;
    }).Flaky,
  'the async connection function': (_connection, thrown) => flaky(async () => Promise.reject(thrown)).Flaky,
  '@CreateClient': (_connection, thrown) => {
    @McpToolset({ optional: true })
    class Built {
      @CreateClient()
      client(): UnconnectedClient {
        throw thrown;
      }
    }
    return Built;
  },
  '@MapTool': (connection, thrown) => {
    @McpToolset({ optional: true, connection })
    class Mapped {
      @MapTool()
      async map(): Promise<null> {
        throw thrown;
      }
    }
    return Mapped;
  },
};

describe('R10: what is not the fault of the server propagates, however optional the toolset', () => {
  const thrown = [
    ['a ProviderError', new ProviderError('the application threw it')],
    ['a ProtocolError', new ProtocolError('the application threw it')],
    ['an error of its own', new RangeError('the application threw it')],
    ['something that is no error', { code: 7 }],
  ] as const;
  const cases = Object.entries(callbacks).flatMap(([name, toolsetOf]) =>
    thrown.map(([what, object]) => ({ what, name, object, toolsetOf })),
  );

  it.each(cases)('R10: $what that $name threw is the very object that is thrown', async ({ object, toolsetOf }) => {
    const server = await startRawHttp({ tools: [tool('search')] });
    const toolset = toolsetOf(server.connection, object);
    expect(await rejection(scene.registered(toolset))).toBe(object);
    expect(server.sessions).toEqual([]);
  });

  it('R10: so is what the application threw that makes the instance of the toolset', async () => {
    const server = await startRawHttp({ tools: [tool('search')] });
    const toolset = shop(server.connection, { optional: true });
    const mine = new ProviderError('no credentials for this user');
    scene.container.register<object>(toolset as InjectionToken<object>, {
      useFactory: () => {
        throw mine;
      },
    });
    expect(await rejection(scene.registered(toolset))).toBe(mine);
    expect(server.requests).toEqual([]);
  });

  it('R10: so is what an overridden ClientFactory threw', async () => {
    const { Flaky, reports } = flaky({ command: 'never-started' });
    const mine = new ProviderError('no server in this test');
    overrideClient(scene.container, Flaky, { connect: () => Promise.reject(mine) });
    expect(await rejection(scene.registered(Flaky))).toBe(mine);
    expect(reports).toEqual([]);
  });

  it.each([
    ['options of the wrong kind', () => ({ url: 'ftp://example.test' })],
    ['no options', () => undefined],
  ])('R10: a connection function that returns %s is a ConfigurationError', async (_what, connection) => {
    const { Flaky, reports } = flaky(connection as unknown as ConnectionSource);
    expect(await rejection(scene.registered(Flaky))).toBeInstanceOf(ConfigurationError);
    expect(reports).toEqual([]);
  });

  it('R10: a transport that was used before is a ConfigurationError', async () => {
    const server = await startRawHttp({ tools: [tool('search')] });
    const used = new StreamableHTTPClientTransport(new URL(server.url));
    await used.start();
    @McpToolset({ optional: true })
    class Reused {
      @CreateClient()
      client(): UnconnectedClient {
        return { client: new Client({ name: 'app', version: '1.0.0' }), transport: used };
      }
    }
    expect(await rejection(scene.registered(Reused))).toBeInstanceOf(ConfigurationError);
  });

  it.each([
    ['something else than a class', () => 'search'],
    ['a class with a name that no model takes', (given: McpToolClass) => Object.assign(given, { toolName: 'a b' })],
  ])('R10: @MapTool that returns %s is a ConfigurationError', async (_what, map) => {
    const server = await startRawHttp({ tools: [tool('search')] });
    const reports: unknown[] = [];
    @McpToolset({ optional: true, connection: server.connection })
    class Mapped {
      @MapTool()
      map(given: McpToolClass): McpToolClass {
        return map(given) as McpToolClass;
      }
      @OnError()
      report(error: unknown): void {
        reports.push(error);
      }
    }
    expect(await rejection(scene.registered(Mapped))).toBeInstanceOf(ConfigurationError);
    expect(reports).toEqual([]);
    expect(server.sessions).toEqual([]);
  });
});

describe('R10: the end of the run propagates, however optional the toolset', () => {
  it.each(['initialize', 'tools/list'])('R10: a run that is cancelled during %s', async (method) => {
    const server = await startRawHttp({ on: { [method]: (exchange) => exchange.hang() } });
    const { Flaky, reports } = flaky(server.connection);
    const run = scene.run();
    const outcome = rejection(run.resolve(ToolRegistry).register(Flaky));
    await server.waitFor(method);
    run.cancel('enough');

    const error = await outcome;
    expect(error).toBeInstanceOf(CancelledError);
    expect(error).toMatchObject({ cause: 'enough' });
    expect(reports).toEqual([]);
    await server.waitForNoRequests();
    expect(server.sessions).toEqual([]);
  });

  it('R10: a run that is cancelled while a child keeps silent', async () => {
    const server = await rawStdio({ on: { 'tools/list': (exchange) => exchange.hang() } });
    const { Flaky, reports } = flaky(server.connection);
    const run = scene.run();
    const outcome = rejection(run.resolve(ToolRegistry).register(Flaky));
    await server.waitFor('tools/list');
    run.cancel();
    expect(await outcome).toBeInstanceOf(CancelledError);
    expect(reports).toEqual([]);
    await waitForNoChildren();
  });

  it.each(['initialize', 'tools/list'])('R10: a run whose deadline passes during %s', async (method) => {
    const server = await startRawHttp({ on: { [method]: (exchange) => exchange.hang() } });
    const { Flaky, reports } = flaky(server.connection);
    const outcome = rejection(scene.run({ timeout: LIMIT }).resolve(ToolRegistry).register(Flaky));
    await server.waitFor(method);
    clock.leap(LIMIT);
    expect(await outcome).toBeInstanceOf(DeadlineExceededError);
    expect(reports).toEqual([]);
    await server.waitForNoRequests();
    expect(server.sessions).toEqual([]);
  });

  it.each(['the connection function', '@MapTool', '@OnError'])(
    'R10: a run that is cancelled during %s',
    async (role) => {
      const broken = role === '@OnError' ? { on: { 'tools/list': (exchange: HttpExchange) => exchange.raw(500) } } : {};
      const server = await startRawHttp({ tools: [tool('search')], ...broken });
      let start = (): void => undefined;
      const started = new Promise<void>((resolve) => (start = resolve));
      const forever = (name: string): Promise<never> | undefined => {
        if (name !== role) return undefined;
        start();
        return new Promise<never>(() => undefined);
      };
      @McpToolset({
        optional: true,
        connection: async () => (await forever('the connection function')) ?? server.connection,
      })
      class Slow {
        @MapTool()
        async map(given: McpToolClass): Promise<McpToolClass> {
          return (await forever('@MapTool')) ?? given;
        }
        @OnError()
        async report(): Promise<void> {
          await forever('@OnError');
        }
      }
      const run = scene.run();
      const outcome = rejection(run.resolve(ToolRegistry).register(Slow));
      await started;
      run.cancel();
      expect(await outcome).toBeInstanceOf(CancelledError);
      expect(server.sessions).toEqual([]);
    },
  );
});
