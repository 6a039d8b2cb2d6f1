import { ConfigurationError, ProviderError, SessionRegistry, ToolError } from 'mcp-toolset';
import { leapingClock, LIMIT } from '../leaping-clock';
import { closeServersAfterEach, startRawHttp, type RawHttpScript } from '../servers';
import { count, counting } from './counting-server';
import {
  cancelNotices,
  closeRunsAfterEach,
  factoryToolset,
  gate,
  httpClient,
  registered,
  startRun,
  toolsetFor,
} from './live-run';

closeServersAfterEach();
closeRunsAfterEach();
const clock = leapingClock();

const sessions = new SessionRegistry();

describe('R43: where reopening does not help', () => {
  const refused = {
    status: 'error',
    error: expect.any(ProviderError),
    content: expect.stringContaining('The server refused the call without carrying it out.'),
  };

  it('a request that is refused twice is a ProviderError', async () => {
    const script = counting({ on: { 'tools/call': (exchange) => exchange.raw(404, {}, 'Session not found') } });
    const server = await startRawHttp(script);
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const execution = await registry.execute({ name: 'count' });
    expect(execution).toMatchObject(refused);
    expect(execution.error).toMatchObject({ outcome: 'refused', message: expect.stringContaining('404') });
    expect([count(server, 'initialize'), count(server, 'tools/call')]).toEqual([2, 2]);
    server.script = counting();
    expect(await registry.execute({ name: 'count', input: { n: 1 } })).toMatchObject({ content: 'ran 1' });
  });

  it('a 404 of a server without session ids is refused at once', async () => {
    const script = counting({ sessions: false, on: { 'tools/call': (exchange) => exchange.raw(404, {}, 'No') } });
    const server = await startRawHttp(script);
    const registry = await registered(startRun(), toolsetFor(server.connection));
    expect(await registry.execute({ name: 'count' })).toMatchObject(refused);
    expect([count(server, 'initialize'), count(server, 'tools/call')]).toEqual([1, 1]);
  });

  it.each<[string, NonNullable<RawHttpScript['on']>]>([
    ['the server refuses', { initialize: (exchange) => exchange.raw(503, {}, 'closed for today') }],
    ['the server answers with an error', { initialize: (exchange) => exchange.error(-32000, 'closed for today') }],
    ['the server answers with what is no result', { initialize: (exchange) => exchange.json({ capabilities: 7 }) }],
    ['the server speaks an unknown version', { initialize: (exchange) => exchange.json(unknownVersion) }],
    ['the connection is reset', { initialize: (exchange) => exchange.destroy() }],
  ])('reopening fails, because %s: a ProviderError, and the next call tries again', async (_why, on) => {
    const server = await startRawHttp(counting());
    const registry = await registered(startRun(), toolsetFor(server.connection));
    server.forgetSessions();
    server.script = counting({ on });
    const executions = await Promise.all([1, 2, 3].map((n) => registry.execute({ name: 'count', input: { n } })));
    for (const execution of executions) {
      expect(execution).toMatchObject(refused);
      expect(execution.error).toMatchObject({ outcome: 'refused', toolset: 'Remote' });
      expect((execution.error as Error).message).toContain('forgotten the session');
    }
    server.script = counting();
    expect(await registry.execute({ name: 'count', input: { n: 4 } })).toMatchObject({ content: 'ran 4' });
    expect(sessions.size).toBe(1);
  });

  it('reopening is too slow', async () => {
    const server = await startRawHttp(counting());
    const toolset = factoryToolset(() => httpClient(server.url), { connect: { timeout: LIMIT } });
    const registry = await registered(startRun(), toolset);
    server.forgetSessions();
    server.script = counting({ on: { initialize: (exchange) => exchange.hang() } });
    const call = registry.execute({ name: 'count' });
    await server.waitFor('initialize', 2);
    clock.leap(LIMIT);
    const execution = await call;
    expect(execution).toMatchObject(refused);
    expect((execution.error as Error).message).toContain(`within ${LIMIT} ms`);
    await server.waitForNoRequests();
  });

  it('what the factory throws is the error of the call, as it is', async () => {
    const server = await startRawHttp(counting());
    const thrown = [new ToolError('log in again'), new ProviderError('ours'), 'a string'];
    const builds = [() => httpClient(server.url)];
    const toolset = factoryToolset(() => builds.pop()!());
    const registry = await registered(startRun(), toolset);
    for (const value of thrown) {
      server.forgetSessions();
      builds.push(() => {
        throw value;
      });
      expect((await registry.execute({ name: 'count' })).error).toBe(value);
      expect(builds).toEqual([]);
    }
    builds.push(() => httpClient(server.url));
    expect(await registry.execute({ name: 'count', input: { n: 3 } })).toMatchObject({ content: 'ran 3' });
  });

  it('a factory that returns the client that it returned before is a ConfigurationError', async () => {
    const server = await startRawHttp(counting());
    const only = httpClient(server.url);
    const registry = await registered(
      startRun(),
      factoryToolset(() => only),
    );
    server.forgetSessions();
    const execution = await registry.execute({ name: 'count' });
    expect(execution.error).toBeInstanceOf(ConfigurationError);
    expect(execution.error).toMatchObject({ outcome: 'refused' });
  });
});

const unknownVersion = {
  protocolVersion: '1999-01-01',
  capabilities: { tools: {} },
  serverInfo: { name: 'old', version: '1.0.0' },
};

describe('R43: the end of a run or session while it is reopened', () => {
  const hanging = (): RawHttpScript => counting({ on: { initialize: (exchange) => exchange.hang() } });

  it('the run is closed: the call is cancelled and nothing stays open', async () => {
    const server = await startRawHttp(counting());
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    server.forgetSessions();
    server.script = hanging();
    const call = registry.execute({ name: 'count' });
    call.catch(() => undefined);
    await server.waitFor('initialize', 2);
    await run.close();
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    await server.waitForNoRequests();
    expect(sessions.size).toBe(0);
    expect(cancelNotices(server.requests)).toEqual([]);
  });

  it('the session is closed: the call fails at once and nothing stays open', async () => {
    const server = await startRawHttp(counting());
    const registry = await registered(startRun(), toolsetFor(server.connection));
    server.forgetSessions();
    server.script = hanging();
    const call = registry.execute({ name: 'count' });
    await server.waitFor('initialize', 2);
    await sessions.closeAll();
    expect(await call).toMatchObject({ status: 'error', error: expect.any(ProviderError) });
    await server.waitForNoRequests();
    expect(sessions.size).toBe(0);
  });

  it('the session is closed while the factory works: what it returns too late is closed', async () => {
    const server = await startRawHttp(counting());
    const asked = gate();
    const late = gate<ReturnType<typeof httpClient>>();
    const answers = [() => Promise.resolve(httpClient(server.url))];
    const toolset = factoryToolset(() => {
      const answer = answers.pop();
      if (answer) return answer();
      asked.open();
      return late.passed;
    });
    const registry = await registered(startRun(), toolset);
    server.forgetSessions();
    const call = registry.execute({ name: 'count' });
    await asked.passed;
    await sessions.closeAll();
    expect(await call).toMatchObject({ status: 'error', error: expect.any(ProviderError) });
    const unconnected = httpClient(server.url);
    const closed = gate();
    unconnected.client.close = async () => closed.open();
    late.open(unconnected);
    await closed.passed;
    expect(count(server, 'initialize')).toBe(1);
  });

  it('a caller that is cancelled meanwhile does not disturb the others', async () => {
    const server = await startRawHttp(counting());
    const registry = await registered(startRun(), toolsetFor(server.connection));
    server.forgetSessions();
    server.script = counting({ on: { initialize: () => undefined } });
    const own = new AbortController();
    const first = registry.execute({ name: 'count', input: { n: 1 } }, { signal: own.signal });
    const second = registry.execute({ name: 'count', input: { n: 2 } });
    const initialize = await server.waitFor('initialize', 2);
    await server.waitFor('tools/call', 2);
    own.abort();
    await expect(first).rejects.toMatchObject({ code: 'cancelled' });
    await initialize.polite();
    expect(await second).toMatchObject({ content: 'ran 2' });
    expect(server.calls.filter(({ arguments: args }) => args?.n === 1)).toHaveLength(1);
    expect(cancelNotices(server.requests)).toEqual([]);
  });
});
