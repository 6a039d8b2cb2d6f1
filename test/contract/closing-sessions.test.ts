import {
  CancelledError,
  DeadlineExceededError,
  ProviderError,
  SessionRegistry,
  ToolBinding,
  ToolsetDiscovery,
} from 'mcp-toolset';
import { createTestServer, overrideClient } from 'mcp-toolset/testing';
import { leapingClock, LIMIT } from '../leaping-clock';
import { closeServersAfterEach, rawStdio, startRawHttp, tool, type HttpHandler, type RawHttpScript } from '../servers';
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
const silent: RawHttpScript = { tools: [tool('x')], call: () => undefined };

describe('R35: a session closes on the server and then here', () => {
  it('by terminateSession, then by closing the client', async () => {
    const server = await startRawHttp({ tools: [tool('x')] });
    const order: string[] = [];
    const toolset = factoryToolset(() => {
      const unconnected = httpClient(server.url);
      const { client, transport } = unconnected;
      const terminate = transport.terminateSession.bind(transport);
      transport.terminateSession = async () => {
        await terminate();
        order.push('terminated');
      };
      const close = client.close.bind(client);
      client.close = () => {
        order.push('client.close');
        return close();
      };
      return unconnected;
    });
    const run = startRun();
    await registered(run, toolset);
    const [id] = server.sessions;
    await run.close();
    expect(order).toEqual(['terminated', 'client.close']);
    expect(server.deleted).toEqual([id]);
    expect(server.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  });

  it.each([200, 202, 204, 404, 405, 500, 503])('whatever the server answers: %d', async (status) => {
    const server = await startRawHttp({ tools: [tool('x')], on: { DELETE: (exchange) => exchange.raw(status) } });
    const run = startRun();
    await registered(run, toolsetFor(server.connection));
    await run.close();
    expect(server.requests.at(-1)).toMatchObject({ method: 'DELETE' });
    expect(sessions.size).toBe(0);
  });

  it('or does to the connection', async () => {
    const server = await startRawHttp({ tools: [tool('x')], on: { DELETE: (exchange) => exchange.destroy() } });
    const run = startRun();
    await registered(run, toolsetFor(server.connection));
    await run.close();
    expect(sessions.size).toBe(0);
  });

  it.each<[string, HttpHandler]>([
    ['resets the connection of', (exchange) => exchange.destroy()],
    ['refuses', (exchange) => exchange.raw(500)],
  ])('also where the server %s the cancel notice of a call in flight', async (_how, handler) => {
    const server = await startRawHttp({ ...silent, on: { 'notifications/cancelled': handler } });
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    const call = registry.execute({ name: 'x' });
    call.catch(() => undefined);
    await server.waitFor('tools/call');
    await run.close();
    await expect(call).rejects.toThrow(CancelledError);
    expect(server.deleted).toHaveLength(1);
  });

  it('without waiting for a server that hangs', async () => {
    const server = await startRawHttp({ tools: [tool('x')], on: { DELETE: (exchange) => exchange.hang() } });
    const run = startRun();
    await registered(run, toolsetFor(server.connection));
    const closing = run.close();
    const request = await server.waitFor('DELETE');
    await closing;
    // Nobody ever answered: it is the client that went.
    expect(await request.waitForClose()).toBe('aborted');
  });

  it('without waiting for a transport that hangs', async () => {
    const server = await startRawHttp({ tools: [tool('x')] });
    const closed = gate();
    const toolset = factoryToolset(() => {
      const unconnected = httpClient(server.url);
      unconnected.transport.terminateSession = () => new Promise(() => undefined);
      unconnected.client.onclose = () => closed.open();
      return unconnected;
    });
    const run = startRun();
    await registered(run, toolset);
    await run.close();
    await closed.passed;
  });

  it('when the server is gone', async () => {
    const server = await startRawHttp({ tools: [tool('x')] });
    const run = startRun();
    await registered(run, toolsetFor(server.connection));
    await server.stop();
    await run.close();
    expect(sessions.size).toBe(0);
  });

  it('once, however many ask', async () => {
    const server = await startRawHttp({ tools: [tool('x')] });
    const run = startRun();
    await registered(run, toolsetFor(server.connection));
    await Promise.all([sessions.closeAll(), run.close(), sessions.closeAll(), run.close()]);
    expect(server.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  });

  it('over stdio by ending the child', async () => {
    const server = await rawStdio({ tools: [tool('x')] });
    const run = startRun();
    await registered(run, toolsetFor(server.connection));
    await run.close();
    await server.waitForExit();
    expect(server.events.at(-1)).toMatchObject({ method: 'exit' });
  });

  it('in memory', async () => {
    const server = createTestServer({ tools: { x: { call: () => 'x' } } });
    const Remote = toolsetFor({ url: 'https://unused.example/' });
    const run = startRun();
    overrideClient(run.container, Remote, server);
    await registered(run, Remote);
    expect(server.connections).toBe(1);
    await run.close();
    expect(server.connections).toBe(0);
  });
});

describe('R35: calls in flight when their session closes', () => {
  it('fail with a CancelledError where their run was closed, before the server has let go', async () => {
    const server = await startRawHttp({ ...silent, on: { DELETE: () => undefined } });
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    const calls = [registry.execute({ name: 'x' }), registry.execute({ name: 'x' })];
    const settled = Promise.allSettled(calls);
    await server.waitFor('tools/call', 2);
    const closing = run.close();
    for (const outcome of await settled) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(CancelledError) });
    }
    expect(sessions.size).toBe(1);
    (await server.waitFor('DELETE')).raw(200);
    await closing;
    expect(cancelNotices(server.requests)).toHaveLength(2);
  });

  it('with a DeadlineExceededError where their run came too late', async () => {
    const server = await startRawHttp(silent);
    const run = startRun({ timeout: LIMIT });
    const registry = await registered(run, toolsetFor(server.connection));
    const call = registry.execute({ name: 'x' });
    await server.waitFor('tools/call');
    clock.leap(LIMIT);
    await expect(call).rejects.toThrow(DeadlineExceededError);
    await run.close();
  });

  it.each(['HTTP', 'stdio'])('with a ProviderError where the process shuts down, over %s', async (kind) => {
    const server =
      kind === 'HTTP' ? await startRawHttp(silent) : await rawStdio({ tools: [tool('x')], call: () => undefined });
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    const [call, second] = [registry.execute({ name: 'x' }), registry.execute({ name: 'x' })];
    await server.waitFor('tools/call');
    await sessions.closeAll();
    for (const execution of [await call, await second]) {
      expect(execution).toMatchObject({ status: 'error', error: expect.any(ProviderError) });
      expect((execution.error as Error).message).toContain('the session is closed');
    }
    expect(run.state).toBe('active');
    expect(sessions.size).toBe(0);
    const later = await registry.execute({ name: 'x' });
    expect(later).toMatchObject({ status: 'error', error: { code: 'provider_error', outcome: 'not-sent' } });
    await run.close();
  });

  it('also in the middle of discovery', async () => {
    const server = await startRawHttp({ on: { 'tools/list': () => undefined } });
    const run = startRun();
    const discovering = new ToolsetDiscovery().discover(toolsetFor(server.connection), new ToolBinding({ run }));
    discovering.catch(() => undefined);
    await server.waitFor('tools/list');
    await sessions.closeAll();
    await expect(discovering).rejects.toThrow(ProviderError);
    await expect(discovering).rejects.toThrow(/the session is closed/);
    await server.waitForNoRequests();
  });
});

describe('R35: the sessions of the process', () => {
  it('are listed, oldest first, and closed all together', async () => {
    const server = await startRawHttp({ tools: [tool('x')] });
    const runs = [startRun(), startRun()];
    for (const [index, run] of runs.entries()) {
      await registered(run, toolsetFor(server.connection, { name: `Toolset${index}` }));
    }
    expect(sessions.size).toBe(2);
    expect([...sessions]).toEqual(
      runs.map(({ id }, index) => ({ toolset: `Toolset${index}`, runId: id, openedAt: expect.any(Date) })),
    );
    await sessions.closeAll();
    expect([sessions.size, ...sessions]).toEqual([0]);
    expect(server.sessions).toEqual([]);
    await sessions.closeAll();
  });

  it('are all closed when one fails to, which is told', async () => {
    const server = await startRawHttp({ tools: [tool('x')] });
    const broken = new Error('broken');
    const toolset = factoryToolset(() => {
      const unconnected = httpClient(server.url);
      const close = unconnected.transport.close.bind(unconnected.transport);
      unconnected.transport.close = async () => {
        await close();
        throw broken;
      };
      return unconnected;
    });
    await registered(startRun(), toolset);
    await registered(startRun(), toolsetFor(server.connection));
    await expect(sessions.closeAll()).rejects.toMatchObject({ code: 'cleanup_error', errors: [broken] });
    expect(sessions.size).toBe(0);
    expect(server.sessions).toEqual([]);
  });
});
