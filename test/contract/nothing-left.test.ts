import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { HttpConnectionOptions, Run, ToolExecution, ToolRegistry } from 'mcp-toolset';
import { createTestServer, overrideClient } from 'mcp-toolset/testing';
import { leapingClock, LIMIT } from '../leaping-clock';
import {
  closeServersAfterEach,
  rawStdio,
  startRawHttp,
  text,
  tool,
  type RawHttpScript,
  type ResponseStream,
} from '../servers';
import {
  cancelNotices,
  closeRunsAfterEach,
  factoryToolset,
  gate,
  httpClient,
  listenersOf,
  registered,
  startRun,
  toolsetFor,
} from './live-run';

closeServersAfterEach();
closeRunsAfterEach();
const clock = leapingClock();

/** What the official client still knows of requests: its own maps, which only a test may look into. */
function pending(client: Client): Record<string, number> {
  const maps = client as unknown as Record<string, Map<unknown, unknown>>;
  const names = ['_responseHandlers', '_progressHandlers', '_timeoutInfo'];
  return Object.fromEntries(names.map((name) => [name, maps[name]?.size ?? -1]));
}

const NOTHING = { _responseHandlers: 0, _progressHandlers: 0, _timeoutInfo: 0 };

/** How many timers run: those of the clock that leaps, and those of Node. */
function timers(): number {
  return jest.getTimerCount() + process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
}

const script: RawHttpScript = {
  tools: ['good', 'stream', 'bad', 'error', 'http', 'reset', 'silent', 'odd', 'task'].map((name) => tool(name)),
  call: ({ name }, exchange) => {
    switch (name) {
      case 'good':
        return text('good');
      case 'stream':
        return void exchange.sse().progress(1).progress(2).reply(text('stream')).end();
      case 'bad':
        return text('bad', { isError: true });
      case 'error':
        return exchange.error(-32000, 'error');
      case 'http':
        return exchange.raw(500, {}, 'broken');
      case 'reset':
        return exchange.destroy();
      case 'odd':
        return exchange.raw(200, { 'content-type': 'application/json' }, '{"jsonrpc":"2.0","id":{}}');
      default:
        return undefined;
    }
  },
};

interface Stage {
  readonly run: Run;
  readonly client: Client;
  readonly registry: ToolRegistry;
}

/** A run with the tools of a scripted server, and the client that the application built for it. */
async function stage(url: string): Promise<Stage> {
  const unconnected = httpClient(url);
  const run = startRun();
  const registry = await registered(
    run,
    factoryToolset(() => unconnected, { timeout: LIMIT }),
  );
  return { run, client: unconnected.client, registry };
}

describe('R31: nothing of a call is left when it has settled', () => {
  it('nothing of connecting and discovery either', async () => {
    const server = await startRawHttp(script);
    const { run, client } = await stage(server.url);
    expect(pending(client)).toEqual(NOTHING);
    expect(listenersOf(run.signal)).toBe(0);
  });

  it.each([
    ['a success', 'good', 'success'],
    ['a success in an event stream, with progress', 'stream', 'success'],
    ['a result that is an error', 'bad', 'error'],
    ['a JSON-RPC error', 'error', 'error'],
    ['an HTTP error', 'http', 'error'],
    ['a reset connection', 'reset', 'error'],
    ['an answer that cannot be read', 'odd', 'error'],
  ])('after %s', async (_kind, name, status) => {
    const server = await startRawHttp(script);
    const { run, client, registry } = await stage(server.url);
    const own = new AbortController();
    expect(await registry.execute({ name }, { signal: own.signal })).toMatchObject({ status });
    expect(pending(client)).toEqual(NOTHING);
    expect(listenersOf(run.signal)).toBe(0);
    expect(listenersOf(own.signal)).toBe(0);
  });

  it('after a timeout', async () => {
    const server = await startRawHttp(script);
    const { run, client, registry } = await stage(server.url);
    const call = registry.execute({ name: 'silent' });
    await server.waitFor('tools/call');
    clock.leap(LIMIT);
    expect(await call).toMatchObject({ status: 'error' });
    expect(pending(client)).toEqual(NOTHING);
    expect(listenersOf(run.signal)).toBe(0);
  });

  it('after a cancellation', async () => {
    const server = await startRawHttp(script);
    const { run, client, registry } = await stage(server.url);
    const own = new AbortController();
    const call = registry.execute({ name: 'silent' }, { signal: own.signal });
    await server.waitFor('tools/call');
    expect([listenersOf(run.signal), listenersOf(own.signal)]).toEqual([0, 1]);
    own.abort();
    await expect(call).rejects.toThrow();
    expect(pending(client)).toEqual(NOTHING);
    expect([listenersOf(run.signal), listenersOf(own.signal)]).toEqual([0, 0]);
  });

  it('after the run was cancelled', async () => {
    const server = await startRawHttp(script);
    const { run, client, registry } = await stage(server.url);
    const own = new AbortController();
    const call = registry.execute({ name: 'silent' }, { signal: own.signal });
    await server.waitFor('tools/call');
    run.cancel();
    await expect(call).rejects.toThrow();
    expect(pending(client)).toEqual(NOTHING);
    expect([listenersOf(run.signal), listenersOf(own.signal)]).toEqual([0, 0]);
  });

  it('after sending failed, because nobody listens or because the transport throws', async () => {
    const server = await startRawHttp(script);
    const unconnected = httpClient(server.url);
    const { transport, client } = unconnected;
    const run = startRun();
    const registry = await registered(
      run,
      factoryToolset(() => unconnected),
    );
    await server.stop();
    expect(await registry.execute({ name: 'good' })).toMatchObject({ status: 'error' });
    expect(pending(client)).toEqual(NOTHING);
    transport.send = () => Promise.reject(new Error('the transport throws'));
    expect(await registry.execute({ name: 'good' })).toMatchObject({ status: 'error' });
    expect(pending(client)).toEqual(NOTHING);
    expect(listenersOf(run.signal)).toBe(0);
  });

  it('no timer, also when progress comes after a reply that promises more of it', async () => {
    const streams: ResponseStream[] = [];
    const server = await startRawHttp({
      tools: [tool('task')],
      call: (_params, exchange) => {
        streams.push(exchange.sse());
        streams[0]?.reply(text('begun', { task: { taskId: 'a task' } }));
      },
    });
    const { registry } = await stage(server.url);
    const before = timers();
    expect(await registry.execute({ name: 'task' })).toMatchObject({ content: 'begun' });
    expect(timers()).toBe(before);
    streams[0]?.progress(1).request('afterwards', 'ping');
    await server.waitFor('response');
    expect(timers()).toBe(before);
    streams[0]?.end();
  });

  it('no timer of a run that is closed before its deadline', async () => {
    const parent = new AbortController();
    const before = timers();
    const runs = Array.from({ length: 5 }, () => startRun({ timeout: 60_000, signal: parent.signal }));
    expect(listenersOf(parent.signal)).toBe(1);
    await Promise.all(runs.map((run) => run.close()));
    expect(listenersOf(parent.signal)).toBe(0);
    expect(timers()).toBe(before);
  });
});

describe('R31: however much happens at once, no signal carries many listeners', () => {
  it('200 calls of a run, which share their own signal', async () => {
    const server = await startRawHttp({ tools: [tool('silent')], call: () => undefined });
    const { run, client, registry } = await stage(server.url);
    const own = new AbortController();
    const calls = Array.from({ length: 200 }, () => registry.execute({ name: 'silent' }, { signal: own.signal }));
    const settled = Promise.allSettled(calls);
    await server.waitFor('tools/call', 200);
    expect([listenersOf(run.signal), listenersOf(own.signal)]).toEqual([0, 1]);
    expect(pending(client)).toMatchObject({ _responseHandlers: 200 });
    own.abort();
    expect((await settled).map(({ status }) => status)).toEqual(calls.map(() => 'rejected'));
    expect([listenersOf(run.signal), listenersOf(own.signal)]).toEqual([0, 0]);
    expect(pending(client)).toEqual(NOTHING);
    await run.close();
    expect(cancelNotices(server.requests)).toHaveLength(200);
  });

  it('200 calls that the run cuts off', async () => {
    const server = await startRawHttp({ tools: [tool('silent')], call: () => undefined });
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    const settled = Promise.allSettled(Array.from({ length: 200 }, () => registry.execute({ name: 'silent' })));
    await server.waitFor('tools/call', 200);
    run.cancel();
    expect((await settled).every(({ status }) => status === 'rejected')).toBe(true);
    expect(listenersOf(run.signal)).toBe(0);
  });

  it('200 calls that all succeed, in memory', async () => {
    const server = createTestServer({ tools: { echo: { call: ({ n }) => String(n) } } });
    const run = startRun();
    const toolset = toolsetFor({ url: 'https://unused.example/' });
    overrideClient(run.container, toolset, server);
    const registry = await registered(run, toolset);
    const calls = Array.from({ length: 200 }, (_, n) => registry.execute({ name: 'echo', input: { n } }));
    const executions: ToolExecution[] = await Promise.all(calls);
    expect(executions.map(({ content }) => content)).toEqual(calls.map((_, n) => String(n)));
    expect(listenersOf(run.signal)).toBe(0);
  });

  it('50 runs of one parent signal, each with a call', async () => {
    const server = await startRawHttp({ tools: [tool('silent')], call: () => undefined });
    const parent = new AbortController();
    const runs = Array.from({ length: 50 }, () => startRun({ signal: parent.signal }));
    const registries = await Promise.all(runs.map((run) => registered(run, toolsetFor(server.connection))));
    const calls = registries.map((registry) => registry.execute({ name: 'silent' }));
    const settled = Promise.allSettled(calls);
    await server.waitFor('tools/call', 50);
    expect(listenersOf(parent.signal)).toBe(1);
    parent.abort();
    expect((await settled).map(({ status }) => status)).toEqual(calls.map(() => 'rejected'));
    expect(listenersOf(parent.signal)).toBe(0);
  });

  it('200 callers that wait for their turn', async () => {
    const server = await startRawHttp({ tools: [tool('echo')] });
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection, { calls: 'serial' }));
    const own = new AbortController();
    const calls = Array.from({ length: 200 }, () => registry.execute({ name: 'echo' }, { signal: own.signal }));
    expect([listenersOf(run.signal), listenersOf(own.signal)]).toEqual([0, 1]);
    await Promise.all(calls);
    expect([listenersOf(run.signal), listenersOf(own.signal)]).toEqual([0, 0]);
  });

  it('1,600 cancel notices that are on their way at once', async () => {
    const server = await startRawHttp({ tools: [tool('silent')] });
    const delivered = gate();
    // Nothing of them reaches the network, where they would need as many sockets.
    const holding: HttpConnectionOptions['fetch'] = async (url, init) => {
      const body = typeof init?.body === 'string' ? init.body : '';
      if (!/tools.call|cancelled/.test(body)) return fetch(url, init);
      const { signal } = new Request(url, init);
      if (body.includes('cancelled')) await delivered.passed;
      else await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      return new Response(null, { status: 202 });
    };
    const run = startRun();
    const registry = await registered(run, toolsetFor({ ...server.connection, fetch: holding }));
    const own = new AbortController();
    const calls = Array.from({ length: 1_600 }, () => registry.execute({ name: 'silent' }, { signal: own.signal }));
    await new Promise((resolve) => setImmediate(resolve));
    own.abort();
    const settled = await Promise.allSettled(calls);
    expect(settled.every(({ status }) => status === 'rejected')).toBe(true);
    delivered.open();
  });

  it('100 answers to a server that asks 300 questions and lets none be answered, and then none', async () => {
    const server = await startRawHttp({ tools: [tool('curious'), tool('good')], on: { response: () => undefined } });
    server.script.call = ({ name }, exchange) => {
      if (name === 'good') return text('good');
      const stream = exchange.sse();
      for (let n = 0; n < 300; n += 1) stream.request(`question ${n}`, 'ping');
      return void stream.reply(text('curious')).end();
    };
    const registry = await registered(startRun(), toolsetFor(server.connection));
    expect(await registry.execute({ name: 'curious' })).toMatchObject({ content: 'curious' });
    await server.waitFor('response', 100);
    expect(await registry.execute({ name: 'good' })).toMatchObject({ content: 'good' });
    expect(server.requests.filter(({ method }) => method === 'response')).toHaveLength(100);
  });

  it('20 overlapping calls that a child is slow to read', async () => {
    const server = await rawStdio({ tools: [tool('echo')], call: () => ({ content: [] }) });
    const registry = await registered(startRun(), toolsetFor(server.connection, { calls: 'overlapping' }));
    const input = { long: 'x'.repeat(200_000) };
    const executions = await Promise.all(Array.from({ length: 20 }, () => registry.execute({ name: 'echo', input })));
    expect(executions.map(({ status }) => status)).toEqual(executions.map(() => 'success'));
  });
});
