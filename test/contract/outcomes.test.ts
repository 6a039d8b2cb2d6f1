import { setImmediate } from 'node:timers/promises';
import {
  CancelledError,
  configureMcpToolset,
  DeadlineExceededError,
  MapResult,
  McpToolset,
  ProtocolError,
  ProviderError,
  SessionRegistry,
  ToolError,
  type CallOutcome,
  type ToolExecution,
} from 'mcp-toolset';
import { leapingClock, LIMIT } from '../leaping-clock';
import { closeServersAfterEach, rawStdio, startRawHttp, text, tool, type RawHttpScript } from '../servers';
import { counting } from './counting-server';
import { closeRunsAfterEach, factoryToolset, gate, httpClient, registered, startRun, toolsetFor } from './live-run';

closeServersAfterEach();
closeRunsAfterEach();
const clock = leapingClock();

const sentences: Record<CallOutcome, string> = {
  'not-sent': 'The call was not sent.',
  refused: 'The server refused the call without carrying it out.',
  completed: 'The tool ran, but it answered in another shape than it declares.',
  unknown: 'It is not known whether the server carried the call out; find out before making it again.',
};

/** What an execution is that failed with an error of the library's own. */
function failure(outcome: CallOutcome, error: 'ProviderError' | 'ProtocolError' = 'ProviderError'): unknown {
  return {
    status: 'error',
    content: `Tool failed (${error}). ${sentences[outcome]}`,
    error: expect.objectContaining({ name: error, outcome, toolset: 'Remote' }),
  };
}

function executing(registry: { execute(call: { name: string }): Promise<ToolExecution> }): Promise<ToolExecution> {
  const calling = registry.execute({ name: 'count' });
  calling.catch(() => undefined); // awaited later
  return calling;
}

describe('R42: the outcome of a call over HTTP', () => {
  it('not-sent: nobody listens', async () => {
    const server = await startRawHttp(counting());
    const registry = await registered(startRun(), toolsetFor(server.connection));
    await server.stop();
    expect(await executing(registry)).toMatchObject(failure('not-sent') as object);
    expect(server.calls).toEqual([]);
  });

  it('not-sent: the session was closed before', async () => {
    const server = await startRawHttp(counting());
    const registry = await registered(startRun(), toolsetFor(server.connection));
    await new SessionRegistry().closeAll();
    expect(await executing(registry)).toMatchObject(failure('not-sent') as object);
    expect(server.calls).toEqual([]);
  });

  it.each([400, 401, 403, 404, 405, 409, 413, 422, 429, 499])('refused: HTTP %d', async (status) => {
    const script = counting({ sessions: false, on: { 'tools/call': (exchange) => exchange.raw(status, {}, 'No.') } });
    const server = await startRawHttp(script);
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const execution = await executing(registry);
    expect(execution).toMatchObject(failure('refused') as object);
    expect((execution.error as Error).message).toContain(`HTTP ${status} (No.)`);
    expect(server.calls).toHaveLength(1);
  });

  it('refused: a JSON-RPC error in the body gives the message', async () => {
    const body = { jsonrpc: '2.0', id: null, error: { code: -32602, message: 'n must be a number' } };
    const server = await startRawHttp(
      counting({
        on: {
          'tools/call': (exchange) => exchange.raw(400, { 'content-type': 'application/json' }, JSON.stringify(body)),
        },
      }),
    );
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const execution = await executing(registry);
    expect(execution).toMatchObject(failure('refused') as object);
    expect((execution.error as Error).message).toContain('HTTP 400 (n must be a number)');
  });

  const unknown: [string, NonNullable<RawHttpScript['call']>][] = [
    ['HTTP 500', (_params, exchange) => exchange.raw(500, {}, 'broken')],
    ['HTTP 502', (_params, exchange) => exchange.raw(502)],
    ['HTTP 503', (_params, exchange) => exchange.raw(503, { 'retry-after': '0' })],
    ['HTTP 504', (_params, exchange) => exchange.raw(504, { 'content-type': 'text/html' }, '<h1>Gateway</h1>')],
    ['the connection is reset before an answer', (_params, exchange) => exchange.destroy()],
    [
      'the connection is reset in the middle of an answer',
      (_params, exchange) =>
        void exchange
          .stream(200, { 'content-type': 'application/json', 'content-length': '100' })
          .write('{"jsonrpc"')
          .destroy(),
    ],
    [
      'the connection is reset in the middle of an event stream',
      (_params, exchange) => void exchange.sse().progress(1).destroy(),
    ],
  ];

  it.each(unknown)('unknown: %s', async (_what, call) => {
    const server = await startRawHttp(counting({ call }));
    const registry = await registered(startRun(), toolsetFor(server.connection));
    expect(await executing(registry)).toMatchObject(failure('unknown') as object);
    expect(server.calls).toHaveLength(1);
  });

  it('unknown: no answer', async () => {
    const server = await startRawHttp(counting({ call: () => undefined }));
    const calling = executing(await registered(startRun(), toolsetFor(server.connection, { timeout: LIMIT })));
    await server.waitFor('tools/call');
    clock.leap(LIMIT);
    expect(await calling).toMatchObject(failure('unknown') as object);
    expect(server.calls).toHaveLength(1);
  });

  const unreadable: [string, NonNullable<RawHttpScript['call']>][] = [
    ['no JSON', (_params, exchange) => exchange.raw(200, { 'content-type': 'application/json' }, 'not JSON')],
    ['no JSON-RPC', (_params, exchange) => exchange.raw(200, { 'content-type': 'application/json' }, '{"ok":true}')],
    ['HTML', (_params, exchange) => exchange.raw(200, { 'content-type': 'text/html' }, '<p>Please log in</p>')],
    ['no content type', (_params, exchange) => exchange.raw(200, {}, '{}')],
  ];

  it.each(unreadable)('unknown: an answer that is %s', async (_what, call) => {
    const server = await startRawHttp(counting({ call }));
    const registry = await registered(startRun(), toolsetFor(server.connection));
    expect(await executing(registry)).toMatchObject(failure('unknown', 'ProtocolError') as object);
    expect(server.calls).toHaveLength(1);
  });

  it("unknown: an application's own transport whose stream ends silently shows it by the timeout", async () => {
    const script = counting({ call: (_params, exchange) => void exchange.sse().progress(1).end() });
    const server = await startRawHttp(script);
    const toolset = factoryToolset(() => httpClient(server.url), { name: 'Remote', timeout: LIMIT });
    const calling = executing(await registered(startRun(), toolset));
    await (await server.waitFor('tools/call')).waitForClose();
    clock.leap(LIMIT);
    const execution = await calling;
    expect(execution).toMatchObject(failure('unknown') as object);
    expect((execution.error as Error).message).toContain(`within ${LIMIT} ms`);
  });

  it('unknown: the session is closed while the call is in flight', async () => {
    const server = await startRawHttp(counting({ call: () => undefined }));
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const calling = executing(registry);
    await server.waitFor('tools/call');
    await new SessionRegistry().closeAll();
    const execution = await calling;
    expect(execution).toMatchObject(failure('unknown') as object);
    expect(String(execution.error)).toMatch(/: the session is closed\.$/);
  });

  it('completed: the result has another shape than the tool declares', async () => {
    const server = await startRawHttp(counting({ tools: [tool('count', { outputSchema: { type: 'object' } })] }));
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const execution = await executing(registry);
    expect(execution.error).toBeInstanceOf(ProtocolError);
    expect(execution).toMatchObject({ status: 'error', error: { outcome: 'completed' } });
    expect(execution.content).toContain(sentences.completed);
  });

  it('none: what the server reports, and what a callback threw', async () => {
    const server = await startRawHttp(
      counting({
        call: ({ arguments: args }, exchange) => (args?.n ? text('ok') : exchange.error(-32000, 'sold out')),
      }),
    );
    @McpToolset({ name: 'Remote', connection: server.connection })
    class Remote {
      @MapResult()
      map(): never {
        throw thrown;
      }
    }
    const thrown = new ProviderError('of the application');
    const registry = await registered(startRun(), Remote);
    const reported = await executing(registry);
    expect(reported).toMatchObject({ content: 'sold out', error: expect.any(ToolError) });
    expect((reported.error as ToolError).outcome).toBeUndefined();
    const mapped = await registry.execute({ name: 'count', input: { n: 1 } });
    expect(mapped).toMatchObject({ content: 'Tool failed (ProviderError)' });
    expect(mapped.error).toBe(thrown);
  });

  it('none for a failure that is no call', async () => {
    const server = await startRawHttp({ on: { 'tools/list': (exchange) => exchange.raw(400) } });
    const error = await registered(startRun(), toolsetFor(server.connection)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ProviderError);
    expect((error as ProviderError).outcome).toBeUndefined();
  });
});

describe('R42: the outcome of a call over stdio', () => {
  it('unknown: the child dies after it took the call', async () => {
    const server = await rawStdio({
      tools: [tool('count')],
      call: (_params, exchange) => {
        exchange.stderr('out of memory\n');
        exchange.die();
      },
    });
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const [dying, waiting] = [executing(registry), executing(registry)];
    expect(await dying).toMatchObject(failure('unknown') as object);
    expect(await waiting).toMatchObject(failure('not-sent') as object);
    expect(await executing(registry)).toMatchObject(failure('not-sent') as object);
    expect(server.calls).toHaveLength(1);
    expect(server.pids).toHaveLength(1);
  });

  it('not-sent: the child had died before', async () => {
    const server = await rawStdio({ tools: [tool('count')] });
    const registry = await registered(startRun(), toolsetFor(server.connection));
    await server.tell((exchange) => exchange.die());
    await server.waitForExit();
    const execution = await executing(registry);
    // The death may be noticed only by the call itself.
    expect(execution.error).toBeInstanceOf(ProviderError);
    expect(execution.error).toMatchObject({ outcome: expect.stringMatching(/^(not-sent|unknown)$/) });
    const next = await executing(registry);
    while (new SessionRegistry().size > 0) await setImmediate();
    for (const later of [next, await executing(registry)]) {
      expect(later).toMatchObject(failure('not-sent') as object);
      expect(String(later.error)).toMatch(/: the session is closed: .*\. A new run has a new one\.$/);
    }
    expect(server.calls).toEqual([]);
  });

  it('unknown: the child is too slow', async () => {
    const server = await rawStdio({ tools: [tool('count')], call: () => undefined });
    const registry = await registered(startRun(), toolsetFor(server.connection, { timeout: LIMIT }));
    const calling = executing(registry);
    await server.waitFor('tools/call');
    clock.leap(LIMIT);
    expect(await calling).toMatchObject(failure('unknown') as object);
    expect(server.calls).toHaveLength(1);
  });
});

describe('R42: the outcome of a call that was cancelled or came too late', () => {
  it('unknown: it was in flight', async () => {
    const server = await startRawHttp(counting({ call: () => undefined }));
    const toolset = toolsetFor(server.connection);
    const own = new AbortController();
    const reason = new Error('enough');
    const byCall = (await registered(startRun(), toolset)).execute({ name: 'count' }, { signal: own.signal });
    byCall.catch(() => undefined);
    const cancelled = startRun();
    const byRun = executing(await registered(cancelled, toolset));
    const byDeadline = executing(await registered(startRun({ timeout: LIMIT }), toolset));
    await server.waitFor('tools/call', 3);
    own.abort(reason);
    cancelled.cancel(reason);
    for (const call of [byCall, byRun]) {
      const error: unknown = await call.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(CancelledError);
      expect(error).toMatchObject({ outcome: 'unknown' });
      expect((error as CancelledError).cause).toBe(reason);
    }
    clock.leap(LIMIT);
    const late: unknown = await byDeadline.catch((thrown: unknown) => thrown);
    expect(late).toBeInstanceOf(DeadlineExceededError);
    expect(late).toMatchObject({ outcome: 'unknown' });
  });

  it('not-sent: it waited for its turn, which those in flight do not say', async () => {
    const server = await startRawHttp(counting({ call: () => undefined }));
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection, { calls: 'serial' }));
    const calls = [executing(registry), executing(registry)];
    await server.waitFor('tools/call');
    run.cancel();
    await expect(calls[0]).rejects.toMatchObject({ code: 'cancelled', outcome: 'unknown' });
    await expect(calls[1]).rejects.toMatchObject({ code: 'cancelled', outcome: 'not-sent' });
    expect((run.signal.reason as CancelledError).outcome).toBeUndefined();
  });

  it('completed: the answer had come and was being mapped', async () => {
    const server = await startRawHttp(counting());
    const mapping = gate();
    @McpToolset({ name: 'Remote', connection: server.connection })
    class Remote {
      @MapResult()
      map(): Promise<never> {
        mapping.open();
        return new Promise(() => undefined);
      }
    }
    const run = startRun();
    const calling = executing(await registered(run, Remote));
    await mapping.passed;
    run.cancel();
    await expect(calling).rejects.toMatchObject({ code: 'cancelled', outcome: 'completed' });
  });

  it('completed: the answer had come, and there was nothing left to wait for', async () => {
    const unusable = { type: 'image', data: '!', mimeType: 'image/png' };
    const server = await startRawHttp({
      tools: [tool('count')],
      call: () => ({ content: [unusable], structuredContent: {} }),
    });
    const run = startRun();
    const logger = { debug: () => undefined, warn: () => run.cancel(), error: () => undefined };
    configureMcpToolset(run.container, { logger });
    const registry = await registered(run, toolsetFor(server.connection));
    await expect(executing(registry)).rejects.toMatchObject({ code: 'cancelled', outcome: 'completed' });
  });
});

describe('R42: no call runs twice', () => {
  it('whatever the server does to each of them', async () => {
    const script = counting();
    const { ran } = script;
    const run = script.call!;
    const deeds: ((exchange: Parameters<typeof run>[1]) => unknown)[] = [
      () => text('fine'),
      (exchange) => exchange.destroy(),
      (exchange) => exchange.raw(500),
      (exchange) => exchange.raw(503, { 'retry-after': '0' }),
      (exchange) => exchange.raw(408),
      (exchange) => exchange.raw(429, { 'retry-after': '0' }),
      (exchange) => exchange.raw(200, { 'content-type': 'text/html' }, 'what?'),
      (exchange) => exchange.error(-32603, 'broken'),
      (exchange) => void exchange.sse().progress(1).destroy(),
      () => undefined,
    ];
    const server = await startRawHttp(script);
    script.call = async (params, exchange) => {
      await run(params, exchange);
      return deeds[Number(params.arguments?.n)]!(exchange);
    };
    const registry = await registered(startRun(), toolsetFor(server.connection, { timeout: LIMIT }));
    const calls = deeds.map((_, n) => registry.execute({ name: 'count', input: { n } }));
    await Promise.all(calls.slice(0, -1));
    await server.waitFor('tools/call', deeds.length);
    clock.leap(LIMIT);
    await calls.at(-1);
    expect(ran).toEqual(new Map(deeds.map((_, n) => [n, 1])));
  });

  it('also when the session is lost while others are in flight, which a server carried out', async () => {
    const script = counting();
    const run = script.call!;
    script.call = async (params, exchange) => {
      const result = await run(params, exchange);
      return params.arguments?.n === 1 ? exchange.destroy() : result;
    };
    const server = await startRawHttp(script);
    const registry = await registered(startRun(), toolsetFor(server.connection));
    expect(await registry.execute({ name: 'count', input: { n: 1 } })).toMatchObject(failure('unknown') as object);
    server.forgetSessions();
    const numbers = [2, 3, 4];
    await Promise.all(numbers.map((n) => registry.execute({ name: 'count', input: { n } })));
    expect(script.ran).toEqual(new Map([1, ...numbers].map((n) => [n, 1])));
  });
});
