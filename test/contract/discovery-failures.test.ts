import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { container } from 'tsyringe';
import {
  CancelledError,
  CleanupError,
  ConfigurationError,
  configureMcpToolset,
  CreateClient,
  MapTool,
  McpToolset,
  ProtocolError,
  ProviderError,
  RunFactory,
  type ConnectionOptions,
  type McpToolClass,
  type Run,
} from 'mcp-toolset';
import { createTestServer } from 'mcp-toolset/testing';
import { leapingClock, LIMIT } from '../leaping-clock';
import { rawStdio, startRawHttp, tool, waitForNoChildren, type RawHttpScript, type RawStdioScript } from '../servers';
import { closeRunsAfterEach, discover, startRun } from './started-run';

closeRunsAfterEach();
const clock = leapingClock();

const TOOLS = [tool('a'), tool('b')];
const bug = new TypeError('a bug of the application');

/** Toolsets that fail after the server did its part. */
const mappings: [string, (toolClass: McpToolClass) => unknown, new (...args: never[]) => Error][] = [
  ['@MapTool throws', () => Promise.reject(bug), TypeError],
  ['@MapTool returns nonsense', () => ({}), ConfigurationError],
  [
    '@MapTool names a tool badly',
    (toolClass) => Object.assign(toolClass, { toolName: 'no such alphabet' }),
    ConfigurationError,
  ],
  ['@MapTool names two tools alike', (toolClass) => Object.assign(toolClass, { toolName: 'same' }), ConfigurationError],
];

function shopWith(connection: ConnectionOptions, map: (toolClass: McpToolClass) => unknown = (toolClass) => toolClass) {
  @McpToolset({ connection })
  class Shop {
    @MapTool()
    curate(toolClass: McpToolClass) {
      return map(toolClass) as McpToolClass;
    }
  }
  return Shop;
}

const httpFailures: [string, RawHttpScript, new (...args: never[]) => Error][] = [
  ['initialize is answered with an error', { on: { initialize: (it) => it.error(-32603, 'no') } }, ProviderError],
  ['initialize is answered with HTTP 500', { on: { initialize: (it) => it.raw(500) } }, ProviderError],
  ['initialize is answered with HTTP 401', { on: { initialize: (it) => it.raw(401) } }, ProviderError],
  ['initialize ends in a reset', { on: { initialize: (it) => it.destroy() } }, ProviderError],
  ['initialize is answered with no protocol version', { initialize: { protocolVersion: null } }, ProtocolError],
  ['the protocol version is unknown', { initialize: { protocolVersion: '1999-01-01' } }, ProtocolError],
  ['the initialized notice is refused', { on: { 'notifications/initialized': (it) => it.raw(500) } }, ProviderError],
  ['tools/list is answered with an error', { on: { 'tools/list': (it) => it.error(-32603, 'no') } }, ProviderError],
  ['tools/list is answered with HTTP 500', { on: { 'tools/list': (it) => it.raw(500) } }, ProviderError],
  ['the second page is answered with an error', { tools: secondPageFails }, ProviderError],
  ['the list is broken', { tools: () => ({ tools: 'none' }) }, ProtocolError],
];

function secondPageFails({ cursor }: Record<string, unknown>, exchange: { error(code: number, text: string): void }) {
  if (cursor === undefined) return { tools: TOOLS, nextCursor: '2' };
  exchange.error(-32602, 'bad cursor');
  return undefined;
}

describe('R8: over HTTP, a failure closes the session and every connection, then propagates', () => {
  it.each(httpFailures)('when %s', async (_, script, expected) => {
    const http = await startRawHttp({ tools: TOOLS, ...script }, { keepAlive: false });
    await expect(discover(shopWith(http.connection))).rejects.toBeInstanceOf(expected);
    // The client gives up by itself where connecting fails: only a session that was connected can be ended.
    if (http.requests.some(({ method }) => method === 'tools/list')) expect(http.deleted).toHaveLength(1);
    await http.waitForNoSockets();
    expect(http.openRequests).toBe(0);
  });

  it.each(mappings)('when %s', async (_, map, expected) => {
    const http = await startRawHttp({ tools: TOOLS }, { keepAlive: false });
    await expect(discover(shopWith(http.connection, map))).rejects.toBeInstanceOf(expected);
    expect(http.deleted).toHaveLength(1);
    await http.waitForNoSockets();
  });
});

const stdioFailures: [string, RawStdioScript, new (...args: never[]) => Error][] = [
  [
    'initialize is answered with an error',
    { on: { initialize: (it) => it.error(it.id ?? null, -32603, 'no') } },
    ProviderError,
  ],
  ['the protocol version is unknown', { initialize: { protocolVersion: '1999-01-01' } }, ProtocolError],
  ['the child exits at initialize', { on: { initialize: (it) => it.exit(3) } }, ProviderError],
  [
    'tools/list is answered with an error',
    { on: { 'tools/list': (it) => it.error(it.id ?? null, -32603, 'no') } },
    ProviderError,
  ],
  ['the child is killed at tools/list', { on: { 'tools/list': (it) => it.die() } }, ProviderError],
  ['the list is broken', { tools: () => ({ tools: 'none' }) }, ProtocolError],
];

describe('R8: over stdio, a failure ends the child, then propagates', () => {
  it.each(stdioFailures)('when %s', async (_, script, expected) => {
    const child = await rawStdio({ tools: TOOLS, ...script });
    await expect(discover(shopWith(child.connection))).rejects.toBeInstanceOf(expected);
    await waitForNoChildren();
    expect(child.pids).toHaveLength(1);
  });

  it.each(mappings)('when %s', async (_, map, expected) => {
    const child = await rawStdio({ tools: TOOLS });
    await expect(discover(shopWith(child.connection, map))).rejects.toBeInstanceOf(expected);
    await waitForNoChildren();
    expect(child.pids).toHaveLength(1);
  });
});

describe("R8: the application's own transport", () => {
  /** A toolset over a transport that says when it is closed. */
  function watched(url: string, close: (transport: StreamableHTTPClientTransport) => Promise<void>) {
    const closed: string[] = [];
    class Watched extends StreamableHTTPClientTransport {
      override async close(): Promise<void> {
        closed.push('closed');
        await super.close();
        await close(this);
      }
    }
    @McpToolset()
    class Shop {
      @CreateClient()
      client() {
        return { client: new Client({ name: 'app', version: '1.0.0' }), transport: new Watched(new URL(url)) };
      }
    }
    return { Shop, closed };
  }

  it.each(httpFailures)('is closed before the error is told, when %s', async (_, script, expected) => {
    const http = await startRawHttp({ tools: TOOLS, ...script });
    const { Shop, closed } = watched(http.url, async () => undefined);
    await expect(discover(Shop)).rejects.toBeInstanceOf(expected);
    expect(closed).toEqual(['closed']);
  });

  it.each(httpFailures)('may fail to close: the first error is told, when %s', async (_, script, expected) => {
    const http = await startRawHttp({ tools: TOOLS, ...script });
    const { Shop, closed } = watched(http.url, () => Promise.reject(new RangeError('cannot close')));
    const run = container.resolve(RunFactory).start();
    configureMcpToolset(run.container, { logger: { debug() {}, warn() {}, error() {} } });
    await expect(discover(Shop, run)).rejects.toBeInstanceOf(expected);
    expect(closed).toEqual(['closed']);
    await run.close().catch((error: unknown) => expect(CleanupError.is(error)).toBe(true));
    expect(closed).toEqual(['closed']);
  });
});

describe('R8: a failure that the client does not notice by itself', () => {
  it('of a transport that cannot start closes the transport', async () => {
    const closed: string[] = [];
    @McpToolset()
    class Shop {
      @CreateClient()
      client() {
        const transport = {
          start: () => Promise.reject(new Error('no such device')),
          send: () => Promise.resolve(),
          close: async () => void closed.push('closed'),
        };
        return { client: new Client({ name: 'app', version: '1.0.0' }), transport };
      }
    }
    await expect(discover(Shop)).rejects.toThrow(/^Toolset Shop, initialize: .*no such device/);
    expect(closed).toEqual(['closed']);
  });

  it('of a command that does not exist leaves nothing', async () => {
    const outcome = discover(shopWith({ command: '/no/such/command' }));
    await expect(outcome).rejects.toThrow(/^Toolset Shop, initialize: .*ENOENT/);
    await expect(outcome).rejects.toBeInstanceOf(ProviderError);
  });

  it.each<[string, (run: Run) => unknown, new (...args: never[]) => Error]>([
    ['too slow a server', () => clock.leap(LIMIT), ProviderError],
    ['a run that is cancelled', (run) => run.cancel(), CancelledError],
    ['a run that is closed', (run) => run.close(), CancelledError],
  ])('of %s gives the pending requests up, at initialize and at tools/list', async (_, end, expected) => {
    for (const method of ['initialize', 'tools/list']) {
      const http = await startRawHttp({ on: { [method]: (exchange) => exchange.hang() } });
      const run = startRun();
      const shop = shopWith({ ...http.connection, timeout: LIMIT });
      const outcome = expect(discover(shop, run)).rejects.toBeInstanceOf(expected);
      await http.waitFor(method);
      await end(run);
      await outcome;
      await http.waitForNoRequests();
      expect(http.deleted).toHaveLength(method === 'initialize' ? 0 : 1);
    }
  });

  it('of a run that is cancelled ends a child that does not answer', async () => {
    const child = await rawStdio({ on: { initialize: (exchange) => exchange.hang() } });
    const run = startRun();
    const outcome = expect(discover(shopWith(child.connection), run)).rejects.toBeInstanceOf(CancelledError);
    await child.waitFor('initialize');
    run.cancel();
    await outcome;
    await waitForNoChildren();
  });
});

it('R8: a run that failed to discover one toolset may still use its others', async () => {
  const server = createTestServer({ tools: { a: { call: () => 'a' } } });
  @McpToolset()
  class Good {
    @CreateClient()
    client() {
      return server.connect();
    }
  }
  @McpToolset()
  class Bad extends Good {
    @MapTool()
    curate(): never {
      throw bug;
    }
  }
  const run = startRun();
  await expect(discover(Bad, run)).rejects.toBe(bug);
  expect(await discover(Good, run)).toHaveLength(1);
  expect(server.connections).toBe(1);
});
