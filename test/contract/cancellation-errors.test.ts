import { CancelledError, DeadlineExceededError, ProviderError, ToolError } from 'mcp-toolset';
import { leapingClock, LIMIT } from '../leaping-clock';
import { closeServersAfterEach, startRawHttp, tool } from '../servers';
import { closeRunsAfterEach, registered, startRun, toolsetFor } from './live-run';
import { waiting, waitingServer } from './waiting-server';

closeServersAfterEach();
closeRunsAfterEach();
const clock = leapingClock();

describe('R29: cancelled, too late and too slow are three things', () => {
  const reason = Object.assign(new Error('ours'), { code: -32001 });

  it.each<[string, unknown]>([
    ['an error', reason],
    ['a ProviderError', new ProviderError('ours')],
    ['a DeadlineExceededError', new DeadlineExceededError('ours')],
    ['a string', 'gone'],
    ['null', null],
  ])("the cause of a CancelledError is the signal's reason: %s", async (_kind, cause) => {
    const server = await waitingServer();
    const parent = new AbortController();
    const own = new AbortController();
    const toolset = toolsetFor(server.connection);
    const byCall = await waiting(server, await registered(startRun(), toolset), { signal: own.signal });
    const byParent = await waiting(server, await registered(startRun({ signal: parent.signal }), toolset));
    const cancelled = startRun();
    const byRun = await waiting(server, await registered(cancelled, toolset));
    own.abort(cause);
    parent.abort(cause);
    cancelled.cancel(cause);
    for (const { call } of [byCall, byParent, byRun]) {
      const error = await call.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(CancelledError);
      expect((error as CancelledError).cause).toBe(cause);
    }
  });

  it('a slow server is a ProviderError, and the run goes on', async () => {
    const server = await waitingServer();
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection, { timeout: LIMIT }));
    const { call } = await waiting(server, registry);
    clock.leap(LIMIT);
    expect(await call).toMatchObject({
      status: 'error',
      error: expect.any(ProviderError),
      content: expect.stringContaining('Tool failed (ProviderError)'),
    });
    expect(run.state).toBe('active');
    expect(await registry.execute({ name: 'quick' })).toMatchObject({ content: 'quick' });
  });

  it.each([-32000, -32001])('a reply with the code %d, which the SDK uses for itself, is neither', async (code) => {
    const server = await startRawHttp({
      tools: [tool('x')],
      call: (_params, exchange) => exchange.error(code, 'Request timed out'),
    });
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const execution = await registry.execute({ name: 'x' });
    expect(execution).toMatchObject({ error: expect.any(ToolError), content: 'Request timed out' });
  });

  it('what came first stays: cancelled, then late', async () => {
    const server = await waitingServer();
    const run = startRun({ timeout: LIMIT });
    const registry = await registered(run, toolsetFor(server.connection));
    const { call } = await waiting(server, registry);
    run.cancel('first');
    await expect(call).rejects.toMatchObject({ code: 'cancelled', cause: 'first' });
    clock.leap(LIMIT);
    expect(run.remainingTime()).toBe(0);
    expect(() => run.check()).toThrow(CancelledError);
    expect(run.state).toBe('cancelled');
    await expect(registry.execute({ name: 'wait' })).rejects.toMatchObject({ cause: 'first' });
  });

  it('what came first stays: late, then cancelled', async () => {
    const server = await waitingServer();
    const run = startRun({ timeout: LIMIT });
    const own = new AbortController();
    const registry = await registered(run, toolsetFor(server.connection));
    const { call } = await waiting(server, registry, { signal: own.signal });
    clock.leap(LIMIT);
    await expect(call).rejects.toThrow(DeadlineExceededError);
    run.cancel('second');
    own.abort('third');
    expect(run.state).toBe('expired');
    await expect(registry.execute({ name: 'wait' })).rejects.toThrow(DeadlineExceededError);
  });

  it("what came first stays: the call's signal, then the run", async () => {
    const server = await waitingServer();
    const run = startRun();
    const own = new AbortController();
    const { call } = await waiting(server, await registered(run, toolsetFor(server.connection)), {
      signal: own.signal,
    });
    own.abort('first');
    run.cancel('second');
    await expect(call).rejects.toMatchObject({ code: 'cancelled', cause: 'first' });
  });

  it("a call that is given the run's own signal ends as the run does", async () => {
    const server = await waitingServer();
    const run = startRun({ timeout: LIMIT });
    const registry = await registered(run, toolsetFor(server.connection));
    const joined = AbortSignal.any([run.signal, new AbortController().signal]);
    const same = await waiting(server, registry, { signal: run.signal });
    const derived = await waiting(server, registry, { signal: joined });
    clock.leap(LIMIT);
    await expect(same.call).rejects.toThrow(DeadlineExceededError);
    await expect(derived.call).rejects.toThrow(DeadlineExceededError);
  });
});
