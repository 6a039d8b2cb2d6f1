import {
  CancelledError,
  DeadlineExceededError,
  MapTool,
  McpToolset,
  ProviderError,
  type McpToolClass,
  type ToolCallContext,
} from 'mcp-toolset';
import { createTestServer, overrideClient } from 'mcp-toolset/testing';
import { leapingClock, LIMIT } from '../leaping-clock';
import { closeServersAfterEach, rawStdio, startRawHttp, text, tool, type HttpExchange } from '../servers';
import {
  cancelNotices,
  closeRunsAfterEach,
  factoryToolset,
  httpClient,
  registered,
  startRun,
  toolsetFor,
} from './live-run';
import { isWait, waiting, waitingServer } from './waiting-server';

closeServersAfterEach();
closeRunsAfterEach();
const clock = leapingClock();

describe('R28: a call honours the signals and the deadline, and the server is told once', () => {
  it("by the call's own signal, which leaves the others and the session alone", async () => {
    const server = await waitingServer();
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const own = new AbortController();
    const first = await waiting(server, registry, { signal: own.signal });
    const second = await waiting(server, registry);
    own.abort(new Error('the secret reason'));
    await expect(first.call).rejects.toThrow(CancelledError);
    await server.waitFor('notifications/cancelled');
    second.request.json(text('second'));
    expect(await second.call).toMatchObject({ content: 'second' });
    expect(await registry.execute({ name: 'quick' })).toMatchObject({ content: 'quick' });
    const [notice, ...more] = cancelNotices(server.requests);
    expect(more).toEqual([]);
    expect(notice).toEqual({ requestId: first.request.id, reason: expect.not.stringContaining('secret') });
  });

  it.each<[string, (run: ReturnType<typeof startRun>, parent: AbortController) => unknown]>([
    ['the run that is cancelled', (run) => run.cancel()],
    ['the signal that the run was started with', (_run, parent) => parent.abort()],
    ['the run that is closed', (run) => run.close()],
  ])('by %s, for every call in flight', async (_who, end) => {
    const server = await waitingServer();
    const parent = new AbortController();
    const run = startRun({ signal: parent.signal });
    const registry = await registered(run, toolsetFor(server.connection));
    const calls = [await waiting(server, registry), await waiting(server, registry), await waiting(server, registry)];
    end(run, parent);
    for (const { call } of calls) await expect(call).rejects.toThrow(CancelledError);
    await run.close();
    const ids = cancelNotices(server.requests).map((notice) => (notice as { requestId: unknown }).requestId);
    expect(ids.sort()).toEqual(calls.map(({ request }) => request.id).sort());
  });

  it('by the run that is closed, also where there is no session to end', async () => {
    const server = await startRawHttp({ sessions: false, tools: [tool('wait')], call: () => undefined });
    const run = startRun();
    const { call, request } = await waiting(server, await registered(run, toolsetFor(server.connection)));
    await run.close();
    await expect(call).rejects.toThrow(CancelledError);
    expect(cancelNotices(server.requests)).toMatchObject([{ requestId: request.id }]);
  });

  it("by the run's deadline", async () => {
    const server = await waitingServer();
    const run = startRun({ timeout: LIMIT });
    const registry = await registered(run, toolsetFor(server.connection));
    const { call, request } = await waiting(server, registry);
    clock.leap(LIMIT);
    await expect(call).rejects.toThrow(DeadlineExceededError);
    await run.close();
    expect(cancelNotices(server.requests)).toMatchObject([{ requestId: request.id }]);
  });

  it('by the timeout of one request', async () => {
    const server = await waitingServer();
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection, { timeout: LIMIT }));
    const { call, request } = await waiting(server, registry);
    clock.leap(LIMIT);
    expect(await call).toMatchObject({ status: 'error', error: expect.any(ProviderError) });
    await run.close();
    expect(cancelNotices(server.requests)).toMatchObject([{ requestId: request.id }]);
  });

  it('sends nothing for a signal that had aborted before', async () => {
    const server = await waitingServer();
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    const call = registry.execute({ name: 'wait' }, { signal: AbortSignal.abort('before') });
    await expect(call).rejects.toMatchObject({ code: 'cancelled', cause: 'before' });
    await run.close();
    expect(server.calls).toEqual([]);
    expect(cancelNotices(server.requests)).toEqual([]);
  });

  it('tells nobody about calls that have finished', async () => {
    const server = await startRawHttp({
      tools: [tool('good'), tool('bad'), tool('broken'), tool('unwell')],
      call: ({ name }, exchange) => {
        if (name === 'broken') return exchange.error(-32000, 'broken');
        if (name === 'unwell') return exchange.raw(500, {}, 'unwell');
        return text(name, { isError: name === 'bad' });
      },
    });
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    const own = new AbortController();
    for (const name of registry.names) await registry.execute({ name }, { signal: own.signal });
    own.abort();
    run.cancel();
    await run.close();
    expect(server.calls).toHaveLength(4);
    expect(cancelNotices(server.requests)).toEqual([]);
  });

  it('tells nobody about a call whose reply came in the same moment', async () => {
    const server = await startRawHttp({ tools: [tool('x')], call: () => text('done') });
    const own = new AbortController();
    const toolset = factoryToolset(() => {
      const unconnected = httpClient(server.url);
      unconnected.transport.onmessage = () => {
        if (server.calls.length > 0) queueMicrotask(() => own.abort());
      };
      return unconnected;
    });
    const run = startRun();
    const registry = await registered(run, toolset);
    await expect(registry.execute({ name: 'x' }, { signal: own.signal })).rejects.toThrow(CancelledError);
    await run.close();
    expect(cancelNotices(server.requests)).toEqual([]);
  });

  it("tells the server no reason, also where a mapped tool gives its call a signal of the application's", async () => {
    const server = await waitingServer();
    const own = new AbortController();
    @McpToolset({ connection: server.connection })
    class Remote {
      @MapTool()
      map(generated: McpToolClass): McpToolClass {
        return class extends generated {
          override call(input: Record<string, unknown>, context: ToolCallContext): unknown {
            return super.call(input, { ...context, signal: own.signal });
          }
        };
      }
    }
    const run = startRun();
    const { call } = await waiting(server, await registered(run, Remote));
    own.abort(new Error('the secret reason'));
    expect(await call).toMatchObject({ status: 'error' });
    await run.close();
    expect(cancelNotices(server.requests)).toEqual([
      { requestId: expect.any(Number), reason: expect.not.stringContaining('secret') },
    ]);
  });

  it('ignores a late reply, as JSON or in an event stream', async () => {
    const streams: ReturnType<HttpExchange['sse']>[] = [];
    const server = await startRawHttp({
      tools: [tool('wait'), tool('stream'), tool('quick')],
      call: ({ name }, exchange) => {
        if (name === 'quick') return text('quick');
        if (name === 'stream') streams.push(exchange.sse().progress(1));
        return undefined;
      },
    });
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const own = new AbortController();
    const calls = ['wait', 'stream'].map((name) => registry.execute({ name }, { signal: own.signal }));
    const outcomes = Promise.allSettled(calls);
    await server.waitFor('tools/call', 2);
    own.abort();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await server.waitFor('notifications/cancelled', 2);
    server.requests.find(isWait)?.json(text('late'));
    streams[0]?.progress(2).reply(text('late')).reply(text('later')).end();
    await server.waitForNoRequests();
    expect(await registry.execute({ name: 'quick' })).toMatchObject({ status: 'success', content: 'quick' });
  });

  it('ignores a late reply over stdio', async () => {
    const server = await rawStdio({
      tools: [tool('wait'), tool('quick')],
      call: ({ name }) => (name === 'quick' ? { content: [{ type: 'text', text: 'quick' }] } : undefined),
    });
    const registry = await registered(startRun(), toolsetFor(server.connection, { calls: 'overlapping' }));
    const own = new AbortController();
    const call = registry.execute({ name: 'wait' }, { signal: own.signal });
    const { message } = await server.waitFor('tools/call');
    own.abort(new Error('the secret reason'));
    await expect(call).rejects.toThrow(CancelledError);
    await server.waitFor('notifications/cancelled');
    await server.tell<unknown>(
      (exchange) => exchange.reply(exchange.data as number, { content: [] }),
      (message as { id: number }).id,
    );
    expect(await registry.execute({ name: 'quick' })).toMatchObject({ content: 'quick' });
    expect(cancelNotices(server.received)).toEqual([
      { requestId: (message as { id: number }).id, reason: expect.not.stringContaining('secret') },
    ]);
  });

  it("reaches the SDK's own server, whose handler is told", async () => {
    const told: AbortSignal[] = [];
    let started = (): void => undefined;
    const inside = new Promise<void>((resolve) => (started = resolve));
    const server = createTestServer({
      tools: {
        wait: {
          call: (_args, { signal }) => {
            told.push(signal);
            started();
            return new Promise((resolve) => signal.addEventListener('abort', resolve));
          },
        },
      },
    });
    const Remote = toolsetFor({ url: 'https://unused.example/' });
    const run = startRun();
    overrideClient(run.container, Remote, server);
    const registry = await registered(run, Remote);
    const own = new AbortController();
    const call = registry.execute({ name: 'wait' }, { signal: own.signal });
    await inside;
    own.abort();
    await expect(call).rejects.toThrow(CancelledError);
    expect(told.map(({ aborted }) => aborted)).toEqual([true]);
    expect(server.connections).toBe(1);
  });
});
