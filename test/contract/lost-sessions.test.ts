import { SessionRegistry, type ToolExecution } from 'mcp-toolset';
import { closeServersAfterEach, startRawHttp, text, tool } from '../servers';
import { count, counting } from './counting-server';
import { closeRunsAfterEach, factoryToolset, gate, httpClient, registered, startRun, toolsetFor } from './live-run';

closeServersAfterEach();
closeRunsAfterEach();

const sessions = new SessionRegistry();

function contents(executions: readonly ToolExecution[]): string[] {
  return executions.map(({ content }) => content);
}

describe('R43: a server that has forgotten the session', () => {
  it('is given a new one, and the refused request once more', async () => {
    const script = counting();
    const server = await startRawHttp(script);
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const [old] = server.sessions;
    server.forgetSessions();
    expect(await registry.execute({ name: 'count', input: { n: 1 } })).toMatchObject({ content: 'ran 1' });
    expect(script.ran).toEqual(new Map([[1, 1]]));
    expect(count(server, 'initialize')).toBe(2);
    expect(count(server, 'tools/list')).toBe(1);
    expect(server.sessions).not.toContain(old);
    expect(server.sessions).toHaveLength(1);
    expect(sessions.size).toBe(1);
  });

  it('is given one new session by eight calls that meet the 404 together', async () => {
    const script = counting();
    const server = await startRawHttp(script);
    let built = 0;
    const toolset = factoryToolset(() => {
      built += 1;
      return httpClient(server.url);
    });
    const registry = await registered(startRun(), toolset);
    server.forgetSessions();
    const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
    const calls = await Promise.all(numbers.map((n) => registry.execute({ name: 'count', input: { n } })));
    expect(contents(calls)).toEqual(numbers.map((n) => `ran ${n}`));
    expect([...script.ran.values()]).toEqual(numbers.map(() => 1));
    expect([built, count(server, 'initialize')]).toEqual([2, 2]);
  });

  it('one after the other too: each later loss is handled the same way', async () => {
    const script = counting();
    const server = await startRawHttp(script);
    const registry = await registered(startRun(), toolsetFor(server.connection));
    for (let n = 1; n <= 4; n += 1) {
      server.forgetSessions();
      expect(await registry.execute({ name: 'count', input: { n } })).toMatchObject({ content: `ran ${n}` });
      expect(await registry.execute({ name: 'count', input: { n: -n } })).toMatchObject({ content: `ran ${-n}` });
    }
    expect(count(server, 'initialize')).toBe(5);
    expect([...script.ran.values()].every((times) => times === 1)).toBe(true);
    expect(script.ran.size).toBe(8);
  });

  it('that was restarted between two calls of a run', async () => {
    const script = counting();
    const server = await startRawHttp(script);
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    expect(await registry.execute({ name: 'count', input: { n: 1 } })).toMatchObject({ content: 'ran 1' });
    await server.restart();
    expect(await registry.execute({ name: 'count', input: { n: 2 } })).toMatchObject({ content: 'ran 2' });
    expect(script.ran).toEqual(
      new Map([
        [1, 1],
        [2, 1],
      ]),
    );
    await run.close();
    expect(server.deleted).toHaveLength(1);
    expect(server.sessions).toEqual([]);
  });

  it('during discovery, between two pages', async () => {
    const server = await startRawHttp({
      tools: ({ cursor }) => {
        if (cursor !== undefined) return [tool('second')];
        server.forgetSessions();
        return { tools: [tool('first')], nextCursor: 'two' };
      },
    });
    const registry = await registered(startRun(), toolsetFor(server.connection));
    expect(registry.names).toEqual(['first', 'second']);
    expect(count(server, 'initialize')).toBe(2);
  });

  it('with calls that are serial', async () => {
    const script = counting();
    const server = await startRawHttp(script);
    const registry = await registered(startRun(), toolsetFor(server.connection, { calls: 'serial' }));
    server.forgetSessions();
    const calls = [1, 2, 3].map((n) => registry.execute({ name: 'count', input: { n } }));
    expect(contents(await Promise.all(calls))).toEqual(['ran 1', 'ran 2', 'ran 3']);
    expect(count(server, 'initialize')).toBe(2);
  });
});

describe('R43: calls in flight on the old session', () => {
  it('are left to end, and only then the old connection closes', async () => {
    const server = await startRawHttp({
      tools: [tool('slow'), tool('quick')],
      call: ({ name }) => (name === 'quick' ? text('quick') : undefined),
    });
    const run = startRun();
    const clients: ReturnType<typeof httpClient>[] = [];
    const toolset = factoryToolset(() => {
      const unconnected = httpClient(server.url);
      clients.push(unconnected);
      return unconnected;
    });
    const registry = await registered(run, toolset);
    const slow = registry.execute({ name: 'slow' });
    const request = await server.waitFor('tools/call');
    server.forgetSessions();
    expect(await registry.execute({ name: 'quick' })).toMatchObject({ content: 'quick' });
    expect(clients.map(({ client }) => client.transport !== undefined)).toEqual([true, true]);
    const closed = gate();
    clients[0]!.client.onclose = () => closed.open();
    request.json(text('slow'));
    expect(await slow).toMatchObject({ status: 'success', content: 'slow' });
    await closed.passed;
    expect(clients.map(({ client }) => client.transport !== undefined)).toEqual([false, true]);
    await run.close();
    expect(clients.map(({ client }) => client.transport !== undefined)).toEqual([false, false]);
  });

  it('end with the run, which closes both connections', async () => {
    const server = await startRawHttp({
      tools: [tool('slow'), tool('quick')],
      call: ({ name }) => (name === 'quick' ? text('quick') : undefined),
    });
    const run = startRun();
    const clients: ReturnType<typeof httpClient>[] = [];
    const toolset = factoryToolset(() => {
      const unconnected = httpClient(server.url);
      clients.push(unconnected);
      return unconnected;
    });
    const registry = await registered(run, toolset);
    const slow = registry.execute({ name: 'slow' });
    slow.catch(() => undefined);
    await server.waitFor('tools/call');
    server.forgetSessions();
    await registry.execute({ name: 'quick' });
    await run.close();
    expect(clients.map(({ client }) => client.transport !== undefined)).toEqual([false, false]);
    await expect(slow).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('nothing of the old connection is left once it has been replaced', async () => {
    const server = await startRawHttp(counting());
    const clients: ReturnType<typeof httpClient>[] = [];
    const closed = gate();
    const toolset = factoryToolset(() => {
      const unconnected = httpClient(server.url);
      if (clients.length === 0) unconnected.client.onclose = () => closed.open();
      clients.push(unconnected);
      return unconnected;
    });
    const registry = await registered(startRun(), toolset);
    server.forgetSessions();
    await registry.execute({ name: 'count', input: { n: 1 } });
    await closed.passed;
    expect(clients.map(({ client }) => client.transport !== undefined)).toEqual([false, true]);
  });
});
