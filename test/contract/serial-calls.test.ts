import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  CancelledError,
  DeadlineExceededError,
  ProviderError,
  SessionRegistry,
  type ToolExecution,
  type ToolRegistry,
} from 'mcp-toolset';
import { leapingClock, LIMIT } from '../leaping-clock';
import {
  closeServersAfterEach,
  rawStdio,
  startRawHttp,
  text,
  tool,
  type RawStdioServer,
  type StdioRecord,
} from '../servers';
import { cancelNotices, closeRunsAfterEach, factoryToolset, registered, startRun, toolsetFor } from './live-run';
import { waiting, waitingServer } from './waiting-server';

closeServersAfterEach();
closeRunsAfterEach();
const clock = leapingClock();

const sessions = new SessionRegistry();

interface Held {
  ids: number[];
}

/** A child whose tool `hold` answers only by {@link answerHeld}; its other tool answers at once. */
function holdingChild(): Promise<RawStdioServer<Held>> {
  return rawStdio<Held>({
    data: { ids: [] },
    tools: [tool('hold'), tool('quick')],
    call: ({ name }, exchange) => {
      if (name === 'quick') return { content: [{ type: 'text', text: 'quick' }] };
      exchange.data.ids.push(exchange.id as number);
      return undefined;
    },
  });
}

/** Answers the oldest held call. */
async function answerHeld(server: RawStdioServer<Held>): Promise<void> {
  await server.tell(({ data, reply }) => reply(data.ids.shift(), { content: [{ type: 'text', text: 'held' }] }));
}

function call(registry: ToolRegistry, name: string, signal?: AbortSignal): Promise<ToolExecution> {
  const calling = registry.execute({ name }, { ...(signal && { signal }) });
  calling.catch(() => undefined); // the test awaits it later
  return calling;
}

const isHold = ({ method, message }: StdioRecord): boolean =>
  method === 'tools/call' && (message as { params: { name: string } }).params.name === 'hold';

const refusedForLater = {
  status: 'error',
  error: expect.any(ProviderError),
  content: expect.stringContaining('The call was not sent'),
};

describe('R32: over stdio the calls of one session run one at a time', () => {
  it('in the order in which they were made', async () => {
    const server = await rawStdio<{ running: number; most: number }>({
      data: { running: 0, most: 0 },
      tools: [tool('count')],
      call: async (params, { data }) => {
        data.most = Math.max(data.most, ++data.running);
        await new Promise((resolve) => setTimeout(resolve, 5));
        data.running -= 1;
        return { content: [{ type: 'text', text: String(params.arguments?.n) }] };
      },
    });
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const calls = [0, 1, 2, 3, 4].map((n) => registry.execute({ name: 'count', input: { n } }));
    expect((await Promise.all(calls)).map(({ content }) => content)).toEqual(['0', '1', '2', '3', '4']);
    expect(server.calls.map((params) => params.arguments?.n)).toEqual([0, 1, 2, 3, 4]);
    expect(await server.tell(({ data }) => data.most)).toBe(1);
  });

  it('also where the application built the official transport, or one that extends it', async () => {
    class Extended extends StdioClientTransport {}
    const server = await holdingChild();
    const toolset = factoryToolset(() => ({
      client: new Client({ name: 'application', version: '1.0.0' }),
      transport: new Extended({ ...server.connection, stderr: 'ignore' }),
    }));
    const registry = await registered(startRun(), toolset);
    const calls = [call(registry, 'hold'), call(registry, 'quick')];
    await server.waitFor('tools/call');
    expect(await server.tell(() => 'the child lives')).toBe('the child lives');
    expect(server.calls).toHaveLength(1);
    await answerHeld(server);
    expect((await Promise.all(calls)).map(({ content }) => content)).toEqual(['held', 'quick']);
  });

  it('while the sessions of two runs do not wait for each other', async () => {
    const server = await holdingChild();
    const toolset = toolsetFor(server.connection);
    const one = await registered(startRun(), toolset);
    const waiting = call(one, 'hold');
    const holding = await server.waitFor('tools/call');
    const two = await registered(startRun(), toolset);
    expect(await two.execute({ name: 'quick' })).toMatchObject({ content: 'quick' });
    expect(server.pids).toEqual([holding.pid, expect.any(Number)]);
    await sessions.closeAll();
    expect(await waiting).toMatchObject({ status: 'error' });
  });

  it('and a call that failed lets the next one go on', async () => {
    const server = await rawStdio({
      tools: [tool('x')],
      call: (params, exchange) => exchange.error(exchange.id, -32603, JSON.stringify(params.arguments)),
    });
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const calls = [1, 2, 3].map((n) => registry.execute({ name: 'x', input: { n } }));
    expect((await Promise.all(calls)).map(({ content }) => content)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
  });
});

describe('R32: over stdio a call that was given up closes its session', () => {
  it('when it was cancelled: those that wait, and later ones, are told why', async () => {
    const server = await holdingChild();
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    const own = new AbortController();
    const first = call(registry, 'hold', own.signal);
    const waiting = [call(registry, 'quick'), call(registry, 'quick')];
    await server.waitFor('tools/call');
    own.abort('no more');
    await expect(first).rejects.toMatchObject({ code: 'cancelled', cause: 'no more' });
    const later = call(registry, 'quick');
    for (const refused of [...waiting, later]) {
      const execution = await refused;
      expect(execution).toMatchObject(refusedForLater);
      expect((execution.error as ProviderError).message).toMatch(
        /Remote, tool "quick".*tool "hold".*given up\. A new run has a new one\.$/,
      );
    }
    await server.waitForExit();
    expect(run.state).toBe('active');
    expect(server.calls).toHaveLength(1);
    expect(cancelNotices(server.received)).toHaveLength(1);
    await run.close();
    expect(sessions.size).toBe(0);
  });

  it('when it timed out', async () => {
    const server = await holdingChild();
    const registry = await registered(startRun(), toolsetFor(server.connection, { timeout: LIMIT }));
    const first = call(registry, 'hold');
    const waiting = call(registry, 'quick');
    await server.waitFor('tools/call');
    clock.leap(LIMIT);
    const slow = await first;
    expect(slow).toMatchObject({ status: 'error', error: expect.any(ProviderError) });
    expect(slow.content).toContain('not known whether');
    expect(await waiting).toMatchObject(refusedForLater);
    const later = await registry.execute({ name: 'quick' });
    expect(later).toMatchObject(refusedForLater);
    expect((later.error as ProviderError).message).toMatch(/tool "hold".*given up\. A new run has a new one\.$/);
    await server.waitForExit();
    expect(server.calls).toHaveLength(1);
    expect(cancelNotices(server.received)).toHaveLength(1);
  });

  it('when the run came to its deadline', async () => {
    const server = await holdingChild();
    const registry = await registered(startRun({ timeout: LIMIT }), toolsetFor(server.connection));
    const calls = [call(registry, 'hold'), call(registry, 'hold')];
    await server.waitFor('tools/call');
    clock.leap(LIMIT);
    for (const late of calls) await expect(late).rejects.toThrow(DeadlineExceededError);
    await server.waitForExit();
    expect(server.calls).toHaveLength(1);
  });
});

describe('R32: what does not close the session', () => {
  it('a call that is cancelled while it waits for its turn', async () => {
    const server = await holdingChild();
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const own = new AbortController();
    const first = call(registry, 'hold');
    const waiting = call(registry, 'hold', own.signal);
    const third = call(registry, 'quick');
    await server.waitFor('tools/call');
    own.abort();
    await expect(waiting).rejects.toThrow(CancelledError);
    await answerHeld(server);
    expect(await first).toMatchObject({ content: 'held' });
    expect(await third).toMatchObject({ content: 'quick' });
    expect(server.calls.map(({ name }) => name)).toEqual(['hold', 'quick']);
    expect(cancelNotices(server.received)).toEqual([]);
  });

  it('a call that is cancelled before it has left', async () => {
    const server = await holdingChild();
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const own = new AbortController();
    const unsent = call(registry, 'hold', own.signal);
    own.abort();
    await expect(unsent).rejects.toThrow(CancelledError);
    expect(await registry.execute({ name: 'quick' })).toMatchObject({ content: 'quick' });
    expect(server.calls.map(({ name }) => name)).toEqual(['quick']);
  });

  it("anything, where the toolset's calls are overlapping", async () => {
    const server = await holdingChild();
    const toolset = toolsetFor(server.connection, { calls: 'overlapping', timeout: LIMIT });
    const registry = await registered(startRun(), toolset);
    const own = new AbortController();
    const calls = [call(registry, 'hold', own.signal), call(registry, 'hold'), call(registry, 'hold')];
    await server.waitFor(isHold, 3);
    own.abort();
    await expect(calls[0]).rejects.toThrow(CancelledError);
    await server.tell(({ data, reply }) => reply(data.ids[1], { content: [{ type: 'text', text: 'second' }] }));
    expect(await calls[1]).toMatchObject({ content: 'second' });
    clock.leap(LIMIT);
    expect(await calls[2]).toMatchObject({ status: 'error', error: expect.any(ProviderError) });
    expect(await registry.execute({ name: 'quick' })).toMatchObject({ content: 'quick' });
    expect(server.pids).toHaveLength(1);
  });

  it('a call over HTTP', async () => {
    const server = await waitingServer();
    for (const calls of [undefined, 'serial', 'overlapping'] as const) {
      const registry = await registered(startRun(), toolsetFor(server.connection, { calls, timeout: LIMIT }));
      const late = await waiting(server, registry);
      clock.leap(LIMIT);
      expect(await late.call).toMatchObject({ status: 'error' });
      expect(await registry.execute({ name: 'quick' })).toMatchObject({ content: 'quick' });
    }
    expect(server.sessions).toHaveLength(3);
  });
});

describe('R32: over HTTP calls overlap', () => {
  it('all of them', async () => {
    const server = await startRawHttp({ tools: [tool('x')], call: () => undefined });
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const calls = [1, 2, 3].map(() => registry.execute({ name: 'x' }));
    await server.waitFor('tools/call', 3);
    for (const request of server.requests.filter(({ method }) => method === 'tools/call')) request.json(text('done'));
    expect((await Promise.all(calls)).map(({ content }) => content)).toEqual(['done', 'done', 'done']);
  });

  it("unless the toolset's calls are serial", async () => {
    let running = 0;
    const most: number[] = [];
    const server = await startRawHttp({
      tools: [tool('x')],
      call: async () => {
        most.push(++running);
        await new Promise((resolve) => setTimeout(resolve, 5));
        running -= 1;
        return text('done');
      },
    });
    const registry = await registered(startRun(), toolsetFor(server.connection, { calls: 'serial' }));
    await Promise.all([1, 2, 3, 4].map(() => registry.execute({ name: 'x' })));
    expect(most).toEqual([1, 1, 1, 1]);
  });

  it('and serial calls that are cancelled pass on their turn', async () => {
    const server = await startRawHttp({
      tools: [tool('hold'), tool('quick')],
      call: ({ name }) => (name === 'quick' ? text('quick') : undefined),
    });
    const registry = await registered(startRun(), toolsetFor(server.connection, { calls: 'serial' }));
    const own = new AbortController();
    const calls = [call(registry, 'quick'), call(registry, 'hold', own.signal), call(registry, 'quick')];
    await server.waitFor('tools/call', 2);
    own.abort();
    await expect(calls[1]).rejects.toThrow(CancelledError);
    expect(await calls[2]).toMatchObject({ content: 'quick' });
  });
});
