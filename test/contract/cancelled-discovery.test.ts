import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  CancelledError,
  DeadlineExceededError,
  ProviderError,
  SessionRegistry,
  ToolBinding,
  ToolRegistry,
  ToolsetDiscovery,
} from 'mcp-toolset';
import type { McpToolClass, Run, ToolsetClass, UnconnectedClient } from 'mcp-toolset';
import { leapingClock, LIMIT } from '../leaping-clock';
import {
  closeServersAfterEach,
  rawStdio,
  startRawHttp,
  tool,
  type RawHttpScript,
  type RawStdioScript,
} from '../servers';
import { cancelNotices, closeRunsAfterEach, factoryToolset, gate, httpClient, startRun, toolsetFor } from './live-run';

closeServersAfterEach();
closeRunsAfterEach();
const clock = leapingClock();

const sessions = new SessionRegistry();

function discover(run: Run, toolset: ToolsetClass): Promise<McpToolClass[]> {
  const discovering = new ToolsetDiscovery().discover(toolset, new ToolBinding({ run }));
  discovering.catch(() => undefined); // the test awaits something else first
  return discovering;
}

const secondPageHangs = ({ cursor }: { cursor?: unknown }): unknown =>
  cursor === undefined ? { tools: [tool('a')], nextCursor: 'two' } : undefined;

/** Where a server may stop answering before a toolset has its tools. */
const httpStages: [string, RawHttpScript, { method: string; count?: number; notices: number }][] = [
  ['at initialize', { on: { initialize: (exchange) => exchange.hang() } }, { method: 'initialize', notices: 0 }],
  [
    'at the initialized notification',
    { on: { 'notifications/initialized': (exchange) => exchange.hang() } },
    { method: 'notifications/initialized', notices: 0 },
  ],
  [
    'at the first page of tools/list',
    { on: { 'tools/list': (exchange) => exchange.hang() } },
    { method: 'tools/list', notices: 1 },
  ],
  ['at the second page of tools/list', { tools: secondPageHangs }, { method: 'tools/list', count: 2, notices: 1 }],
];

const stdioStages: [string, RawStdioScript, { method: string; count?: number; notices: number }][] = [
  ['at initialize', { on: { initialize: (exchange) => exchange.hang() } }, { method: 'initialize', notices: 0 }],
  [
    'at the first page of tools/list',
    { on: { 'tools/list': (exchange) => exchange.hang() } },
    { method: 'tools/list', notices: 1 },
  ],
  [
    'at the second page of tools/list',
    { tools: ({ cursor }) => (cursor === undefined ? { tools: [], nextCursor: 'two' } : undefined) },
    { method: 'tools/list', count: 2, notices: 1 },
  ],
];

describe('R28: connecting and discovery are interruptible', () => {
  it('before anything: no client is built for a run that is over', async () => {
    const built = jest.fn(() => httpClient('http://127.0.0.1:9/'));
    const toolset = factoryToolset(built);
    const cancelled = startRun();
    cancelled.cancel();
    const late = startRun({ deadline: new Date(Date.now() - 1) });
    const begunCancelled = startRun({ signal: AbortSignal.abort('before') });
    await expect(discover(cancelled, toolset)).rejects.toThrow(CancelledError);
    await expect(discover(begunCancelled, toolset)).rejects.toMatchObject({ code: 'cancelled', cause: 'before' });
    await expect(discover(late, toolset)).rejects.toThrow(DeadlineExceededError);
    expect(built).not.toHaveBeenCalled();
  });

  it('while the factory works, and closes what it returns too late', async () => {
    const server = await startRawHttp();
    const unconnected = httpClient(server.url);
    const closed = gate();
    unconnected.client.close = async () => closed.open();
    const asked = gate();
    const answer = gate<typeof unconnected>();
    const toolset = factoryToolset(() => {
      asked.open();
      return answer.passed;
    });
    const run = startRun();
    const discovering = discover(run, toolset);
    await asked.passed;
    run.cancel('enough');
    await expect(discovering).rejects.toMatchObject({ code: 'cancelled', cause: 'enough' });
    answer.open(unconnected);
    await closed.passed;
    expect(server.requests).toEqual([]);
  });

  it('while the function that returns connection options works', async () => {
    const asked = gate();
    const toolset = toolsetFor(() => {
      asked.open();
      return new Promise<never>(() => undefined);
    });
    const run = startRun();
    const discovering = discover(run, toolset);
    await asked.passed;
    run.cancel();
    await expect(discovering).rejects.toThrow(CancelledError);
  });

  it('while the server has accepted the connection and says nothing', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const accepted = once(server, 'connection');
    const run = startRun();
    const discovering = discover(run, toolsetFor({ url: `http://127.0.0.1:${port}`, allowInsecureHttp: true }));
    const [socket] = (await accepted) as [Socket];
    socket.on('error', () => undefined);
    run.cancel();
    await expect(discovering).rejects.toThrow(CancelledError);
    socket.resume();
    if (!socket.closed) await once(socket, 'close');
    server.close();
    await once(server, 'close');
  });

  describe.each(httpStages)('over HTTP, %s', (_stage, script, { method, count = 1, notices }) => {
    it('by the run that is cancelled', async () => {
      const server = await startRawHttp(script);
      const run = startRun();
      const discovering = discover(run, toolsetFor(server.connection));
      const hanging = await server.waitFor(method, count);
      run.cancel('the user left');
      await expect(discovering).rejects.toMatchObject({ code: 'cancelled', cause: 'the user left' });
      expect(await hanging.waitForClose()).toBe('aborted');
      expect(cancelNotices(server.requests)).toEqual(
        notices === 0 ? [] : [{ requestId: hanging.id, reason: expect.not.stringContaining('user') }],
      );
      expect(sessions.size).toBe(0);
      if (method !== 'initialize') await server.waitFor('DELETE');
      expect(server.sessions).toEqual([]);
    });

    it('by the deadline of the run', async () => {
      const server = await startRawHttp(script);
      const run = startRun({ timeout: LIMIT });
      const discovering = discover(run, toolsetFor(server.connection));
      const hanging = await server.waitFor(method, count);
      clock.leap(LIMIT);
      await expect(discovering).rejects.toThrow(DeadlineExceededError);
      expect(await hanging.waitForClose()).toBe('aborted');
      expect(cancelNotices(server.requests)).toHaveLength(notices);
      expect(sessions.size).toBe(0);
    });

    it('by the run that is closed', async () => {
      const server = await startRawHttp(script);
      const run = startRun();
      const discovering = discover(run, toolsetFor(server.connection));
      await server.waitFor(method, count);
      await run.close();
      await expect(discovering).rejects.toThrow(/closed/);
      await expect(discovering).rejects.toThrow(CancelledError);
      await server.waitForNoRequests();
      expect(cancelNotices(server.requests)).toHaveLength(notices);
    });
  });

  describe.each(stdioStages)('over stdio, %s', (_stage, script, { method, count = 1, notices }) => {
    it('by the run that is cancelled', async () => {
      const server = await rawStdio(script);
      const run = startRun();
      const discovering = discover(run, toolsetFor(server.connection));
      const hanging = await server.waitFor(method, count);
      run.cancel('the user left');
      await expect(discovering).rejects.toMatchObject({ code: 'cancelled', cause: 'the user left' });
      await server.waitForExit();
      const { id } = hanging.message as { id: number };
      expect(cancelNotices(server.received)).toEqual(
        notices === 0 ? [] : [{ requestId: id, reason: expect.not.stringContaining('user') }],
      );
      expect(sessions.size).toBe(0);
    });
  });

  it('by a signal among the connect options, and initialize is not cancelled at the server either', async () => {
    const server = await rawStdio({ on: { initialize: (exchange) => exchange.hang() } });
    const own = new AbortController();
    const create = (): UnconnectedClient => ({
      client: new Client({ name: 'application', version: '1.0.0' }),
      transport: new StdioClientTransport({ ...server.connection, stderr: 'ignore' }),
    });
    const discovering = discover(startRun(), factoryToolset(create, { connect: { signal: own.signal } }));
    await server.waitFor('initialize');
    own.abort();
    await expect(discovering).rejects.toThrow(ProviderError);
    await server.waitForExit();
    expect(cancelNotices(server.received)).toEqual([]);
  });

  it('and closing the run waits until what was half open is closed, also behind a provider', async () => {
    const server = await startRawHttp({ on: { 'tools/list': (exchange) => exchange.hang() } });
    const clients: Client[] = [];
    const toolset = factoryToolset(() => {
      const unconnected = httpClient(server.url);
      clients.push(unconnected.client);
      return unconnected;
    });
    const run = startRun();
    const registering = run.resolve(ToolRegistry).register(new ToolsetDiscovery().provider(toolset));
    registering.catch(() => undefined);
    await server.waitFor('tools/list');
    await run.close();
    expect(clients.map(({ transport }) => transport)).toEqual([undefined]);
    await expect(registering).rejects.toThrow(CancelledError);
  });

  it('and so it does while the connection is being opened', async () => {
    const server = await startRawHttp({ on: { 'notifications/initialized': (exchange) => exchange.hang() } });
    const clients: Client[] = [];
    const toolset = factoryToolset(() => {
      const unconnected = httpClient(server.url);
      clients.push(unconnected.client);
      return unconnected;
    });
    const run = startRun();
    const registering = run.resolve(ToolRegistry).register(new ToolsetDiscovery().provider(toolset));
    registering.catch(() => undefined);
    await server.waitFor('notifications/initialized');
    await run.close();
    expect(clients.map(({ transport }) => transport)).toEqual([undefined]);
    expect(server.deleted).toHaveLength(1);
  });

  it('tells nobody when discovery had finished', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    const run = startRun();
    await discover(run, toolsetFor(server.connection));
    run.cancel();
    await run.close();
    expect(cancelNotices(server.requests)).toEqual([]);
  });
});
