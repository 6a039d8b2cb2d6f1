import { setImmediate } from 'node:timers/promises';
import {
  CancelledError,
  ConfigurationError,
  OnElicitation,
  OnLog,
  McpToolset,
  ProviderError,
  SessionRegistry,
  ToolBinding,
  ToolRegistry,
  type ConnectionOptions,
  type ElicitationAnswer,
  type HandlerContext,
  type Run,
  type RunOptions,
  type SessionOptions,
  type ToolsetClass,
  type ToolsetOptions,
} from 'mcp-toolset';
import { createTestServer, overrideClient } from 'mcp-toolset/testing';
import { container } from 'tsyringe';
import { closeRunsAfterEach, gate, registered, startRun } from '../contract/live-run';
import { form, replyTo } from '../handlers/asking';
import { leapingClock, LIMIT } from '../leaping-clock';
import { task, taskServer } from '../tasks/task-server';
import {
  closeServersAfterEach,
  rawStdio,
  startRawHttp,
  text,
  tool,
  waitForNoChildren,
  type HttpExchange,
  type RawHttpScript,
  type RawHttpServer,
  type ResponseStream,
} from '../servers';

afterEach(() => container.resolve(SessionRegistry).closeAll());
closeServersAfterEach();
closeRunsAfterEach();
const clock = leapingClock();

const open = (): SessionRegistry => container.resolve(SessionRegistry);
const count = (server: RawHttpServer, wanted: string): number =>
  server.requests.filter(({ method }) => method === wanted).length;
const byActor = ({ run }: ToolBinding): string => run?.invocation.actorId ?? 'nobody';

/** A toolset whose sessions are kept for the next run of the same user. */
function warmToolset(
  connection: ConnectionOptions,
  { session, ...options }: Omit<ToolsetOptions, 'session'> & { session?: Partial<SessionOptions> } = {},
): ToolsetClass {
  @McpToolset({ connection, session: { scope: 'application', key: byActor, ...session }, ...options })
  class Warm {}
  return Warm;
}

async function shop(
  script: RawHttpScript = {},
  options: Parameters<typeof warmToolset>[1] = {},
): Promise<{ server: RawHttpServer; toolset: ToolsetClass }> {
  const server = await startRawHttp({ tools: [tool('x')], ...script });
  return { server, toolset: warmToolset(server.connection, options) };
}

/** Uses a toolset in a run of its own, which is closed then. */
async function inRun<T>(
  toolset: ToolsetClass,
  use: (registry: ToolRegistry, run: Run) => Promise<T> | T,
  options: RunOptions = {},
): Promise<T> {
  const run = startRun(options);
  try {
    return await use(await registered(run, toolset), run);
  } finally {
    await run.close();
  }
}

const callX = (registry: ToolRegistry) => registry.execute({ name: 'x' });

describe('a session of the application', () => {
  it('is lent to the next run with the same key', async () => {
    const { server, toolset } = await shop();
    for (let run = 0; run < 3; run += 1) expect(await inRun(toolset, callX)).toMatchObject({ status: 'success' });
    expect(count(server, 'initialize')).toBe(1);
    expect(count(server, 'tools/call')).toBe(3);
    expect(server.deleted).toEqual([]);
  });

  it('needs no request at all before the call where the catalog is shared', async () => {
    const { server, toolset } = await shop({}, { catalog: { ttl: 60_000 } });
    await inRun(toolset, callX);
    const sent = server.requests.length;
    await inRun(toolset, callX);
    expect(server.requests.slice(sent).map(({ method }) => method)).toEqual(['tools/call']);
  });

  it('is never lent to a run with another key', async () => {
    const { server, toolset } = await shop();
    for (const actorId of ['ada', 'bob', 'ada', 'bob']) await inRun(toolset, callX, { actorId });
    const sessions = server.requests.filter(({ method }) => method === 'tools/call').map(({ sessionId }) => sessionId);
    expect(sessions[0]).toBe(sessions[2]);
    expect(sessions[1]).toBe(sessions[3]);
    expect(sessions[0]).not.toBe(sessions[1]);
  });

  it('is lent to one run at a time', async () => {
    const { server, toolset } = await shop();
    await inRun(toolset, () => inRun(toolset, callX));
    expect(server.sessions).toHaveLength(2);
    await inRun(toolset, () => inRun(toolset, callX));
    expect(count(server, 'initialize')).toBe(2);
  });

  it('is shown by the SessionRegistry, also while no run has it, and closed by closeAll', async () => {
    const { server, toolset } = await shop();
    const run = startRun();
    await registered(run, toolset);
    const [{ openedAt, ...lent } = { openedAt: undefined }] = [...open()];
    expect(lent).toEqual({ toolset: 'Warm', runId: run.id });
    await run.close();
    expect([...open()]).toEqual([{ toolset: 'Warm', runId: undefined, openedAt }]);
    await inRun(toolset, (_registry, { id }) =>
      expect([...open()]).toEqual([{ toolset: 'Warm', runId: id, openedAt }]),
    );
    await open().closeAll();
    expect(open().size).toBe(0);
    expect(server.sessions).toEqual([]);
  });

  it('that has waited for too long is closed', async () => {
    const { server, toolset } = await shop({}, { session: { idleTimeout: 1 } });
    await inRun(toolset, callX);
    await server.waitFor('DELETE');
    expect(open().size).toBe(0);
    await inRun(toolset, callX);
    expect(count(server, 'initialize')).toBe(2);
  });

  it('that has waited longest is closed when there are too many', async () => {
    const { server, toolset } = await shop({}, { session: { max: 2 } });
    for (const actorId of ['ada', 'bob', 'cy']) await inRun(toolset, callX, { actorId });
    await server.waitFor('DELETE');
    expect(open().size).toBe(2);
    for (const actorId of ['bob', 'cy']) await inRun(toolset, callX, { actorId });
    expect(count(server, 'initialize')).toBe(3);
  });

  it('is of no use to the run that it has left', async () => {
    const { server, toolset } = await shop();
    const run = startRun();
    const registry = await registered(run, toolset);
    await run.close();
    await expect(callX(registry)).rejects.toThrow(CancelledError);
    expect(server.calls).toEqual([]);
  });

  it('is not kept where there is no run', async () => {
    const { server, toolset } = await shop();
    const registry = new ToolRegistry(new ToolBinding({ container }));
    await registry.register(toolset);
    await registry.close();
    expect(server.sessions).toEqual([]);
  });

  it('is not lent to a test that puts another server behind the toolset', async () => {
    const { toolset } = await shop();
    await inRun(toolset, callX);
    const child = container.createChildContainer();
    overrideClient(child, toolset, createTestServer({ tools: { x: { call: () => 'fake' } } }));
    expect(await inRun(toolset, callX, { container: child })).toMatchObject({ content: 'fake' });
  });

  it('has options that are checked', () => {
    const connection = { url: 'https://mcp.example' };
    expect(() => McpToolset({ connection, session: { scope: 'application' } as SessionOptions })(class A {})).toThrow(
      /"session.key"/,
    );
    expect(() => warmToolset(connection, { session: { scope: 'run' as 'application' } })).toThrow(/"session.scope"/);
    expect(() => warmToolset(connection, { session: { max: 0 } })).toThrow(/"session.max"/);
    expect(() => warmToolset(connection, { session: { idleTimeout: 0 } })).toThrow(ConfigurationError);
  });

  it.each([[''], [undefined]])('has a key that is a string, not %p', async (value) => {
    const { server, toolset } = await shop({}, { session: { key: () => value } });
    await expect(inRun(toolset, callX)).rejects.toThrow(/Warm: the "key" of option "session" returned/);
    expect(server.requests).toEqual([]);
  });
});

describe('the handlers of a session of the application', () => {
  it('are those of the run whose call is served, and of none while it waits', async () => {
    const server: RawHttpServer = await startRawHttp({
      tools: [tool('ask')],
      call: async (_params, exchange) => {
        const id = `ask-${server.calls.length}`;
        const stream = exchange.sse().notify('notifications/message', { level: 'info', data: id });
        stream.request(id, 'elicitation/create', form({}));
        await replyTo(server, id);
        stream.reply(text('done')).end();
      },
      on: { GET: (exchange) => void standing.open(exchange.sse()) },
    });
    const standing = gate<ReturnType<Parameters<NonNullable<RawHttpScript['call']>>[1]['sse']>>();
    const seen: unknown[] = [];
    @McpToolset({ connection: server.connection, session: { scope: 'application', key: () => 'all' } })
    class Asking {
      private readonly run: Run | undefined;

      @OnElicitation()
      elicit(_request: object, { binding, callId }: HandlerContext): ElicitationAnswer {
        seen.push([binding.run?.invocation.actorId, callId, 'elicitation', this.run]);
        return { action: 'accept' };
      }

      @OnLog()
      log(_line: object, { binding, callId }: HandlerContext): void {
        seen.push([binding.run?.invocation.actorId, callId, 'log', this.run]);
      }
    }
    const ask = (registry: ToolRegistry, { invocation }: Run) =>
      registry.execute({ id: `call of ${invocation.actorId}`, name: 'ask' });
    await inRun(Asking, ask, { actorId: 'ada' });
    const stream = await standing.passed;
    stream.request('idle', 'elicitation/create', form({})).notify('notifications/message', { level: 'info', data: 1 });
    expect((await replyTo(server, 'idle')).message).toMatchObject({ error: { code: -32603 } });
    await inRun(Asking, ask, { actorId: 'bob' });
    expect(seen).toEqual(
      ['ada', 'bob'].flatMap((actor) => [
        [actor, `call of ${actor}`, 'log', undefined],
        [actor, `call of ${actor}`, 'elicitation', undefined],
      ]),
    );
    expect(count(server, 'initialize')).toBe(1);
  });

  it('R9: are told nothing that comes on what the server has kept open of the run before', async () => {
    const kept: ResponseStream[] = [];
    const server: RawHttpServer = await startRawHttp({
      tools: [tool('x')],
      call: (_params, exchange) => void kept.push(exchange.sse().reply(text('done'))),
      on: { GET: (exchange) => void standing.open(exchange.sse()) },
    });
    const standing = gate<ResponseStream>();
    const heard = gate<unknown>();
    const seen: unknown[] = [];
    @McpToolset({ connection: server.connection, session: { scope: 'application', key: () => 'all' } })
    class Listening {
      @OnLog()
      log({ data }: { data: unknown }, { binding }: HandlerContext): void {
        seen.push([binding.run?.invocation.actorId, data]);
        if (data === 'of nobody') heard.open(data);
      }
    }
    const log = (data: string) => ({ level: 'info', data });
    await inRun(Listening, callX, { actorId: 'ada' });
    const stream = await standing.passed;
    await inRun(
      Listening,
      async (registry) => {
        kept[0]?.notify('notifications/message', log('of ada'));
        expect(await callX(registry)).toMatchObject({ content: 'done' });
        stream.notify('notifications/message', log('of nobody'));
        await heard.passed;
      },
      { actorId: 'bob' },
    );
    expect(seen).toEqual([['bob', 'of nobody']]);
    expect(count(server, 'initialize')).toBe(1);
  });

  // More in one piece than is taken in before the run ends.
  const late = Array.from({ length: 400 }, () => ({
    jsonrpc: '2.0',
    method: 'notifications/message',
    params: { level: 'info', data: 'late' },
  }));
  const replyAnd = (id: unknown) => [{ jsonrpc: '2.0', id, result: text('first') }, ...late];
  const events = (messages: readonly object[]): string =>
    messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join('');

  it.each<[string, () => Promise<ConnectionOptions>]>([
    [
      'HTTP',
      async () => {
        const call: RawHttpScript['call'] = (_params, exchange) =>
          server.calls.length > 1
            ? text('second')
            : void exchange
                .sse()
                .write(events(replyAnd(exchange.id)))
                .end();
        const server: RawHttpServer = await startRawHttp({ tools: [tool('x')], call });
        return server.connection;
      },
    ],
    [
      'stdio',
      async () => {
        const server = await rawStdio({
          data: { messages: late, calls: 0 },
          tools: [tool('x')],
          call: (_params, { data, id, write }) => {
            data.calls += 1;
            if (data.calls > 1) return { content: [{ type: 'text', text: 'second' }] };
            const reply = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'first' }] } };
            write([reply, ...data.messages].map((message) => `${JSON.stringify(message)}\n`).join(''));
            return undefined;
          },
        });
        return server.connection;
      },
    ],
  ])('R9: are told nothing that came over %s in one piece with the reply to the run before', async (_over, connect) => {
    const heard: unknown[] = [];
    @McpToolset({ connection: await connect(), session: { scope: 'application', key: () => 'all' } })
    class Listening {
      @OnLog()
      log(_line: object, { binding }: HandlerContext): void {
        heard.push(binding.run?.invocation.actorId);
      }
    }
    expect(await inRun(Listening, callX, { actorId: 'ada' })).toMatchObject({ content: 'first' });
    expect(await inRun(Listening, callX, { actorId: 'bob' })).toMatchObject({ content: 'second' });
    expect(heard).not.toContain('bob');
  });
});

it('a server that ends its stream a moment after the reply keeps the socket, though the run has ended', async () => {
  const kept: { readonly stream: ResponseStream; readonly exchange: HttpExchange }[] = [];
  const { server, toolset } = await shop({
    call: (_params, exchange) => void kept.push({ exchange, stream: exchange.sse().reply(text('done')) }),
  });
  await inRun(toolset, callX);
  await inRun(toolset, callX);
  const [first] = kept;
  expect(first?.exchange.req.socket.destroyed).toBe(false);
  first?.stream.end();
  expect(count(server, 'initialize')).toBe(1);
});

describe('a session that is of no use any more is never lent', () => {
  const stdio = {
    tools: [tool('x'), tool('hang')],
    call: ({ name }: { name: string }) => (name === 'x' ? { content: [] } : undefined),
  };
  const hung = (registry: ToolRegistry, options: { signal?: AbortSignal } = {}) =>
    registry.execute({ name: 'hang' }, options);

  it('after a server that has forgotten it while it waited: it is opened anew', async () => {
    const { server, toolset } = await shop();
    await inRun(toolset, callX);
    server.forgetSessions();
    expect(await inRun(toolset, callX)).toMatchObject({ status: 'success' });
    expect(await inRun(toolset, callX)).toMatchObject({ status: 'success' });
    expect(count(server, 'initialize')).toBe(2);
    expect(count(server, 'tools/call')).toBe(3);
  });

  describe('R43: after its server has withdrawn the credentials of the run that opened it', () => {
    const shops = async (catalog?: ToolsetOptions['catalog']) => {
      let valid = 't1';
      let sent = 't1';
      const server = await startRawHttp({ tools: [tool('x')] });
      const guarded = (exchange: HttpExchange): Promise<void> | void =>
        exchange.headers.authorization === `Bearer ${valid}` ? exchange.polite() : exchange.raw(401, {}, 'expired');
      server.script.on = { initialize: guarded, 'tools/list': guarded, 'tools/call': guarded };
      @McpToolset({
        connection: () => ({ ...server.connection, headers: { Authorization: `Bearer ${sent}` } }),
        session: { scope: 'application', key: byActor },
        ...(catalog && { catalog }),
      })
      class Rotating {}
      await inRun(Rotating, callX);
      valid = 't2';
      const rotate = (token: string): void => void (valid = token);
      return { server, toolset: Rotating, rotate, send: (token: string) => void (sent = token) };
    };

    it.each([
      ['of the list', undefined],
      ['of a call', { ttl: 60_000, key: byActor }],
    ])('it is opened anew with those of the run that notices by a refusal %s', async (_what, catalog) => {
      const { server, toolset, send, rotate } = await shops(catalog);
      for (const token of ['t2', 't3']) {
        rotate(token);
        send(token);
        expect(await inRun(toolset, callX)).toMatchObject({ status: 'success' });
        expect(await inRun(toolset, callX)).toMatchObject({ status: 'success' });
      }
      expect(count(server, 'initialize')).toBe(3);
      await open().closeAll();
      expect(server.sessions).toEqual([]);
    });

    it('and if those are refused too, the error says both, once for each run', async () => {
      const { server, toolset } = await shops({ ttl: 60_000, key: byActor });
      const { error } = await inRun(toolset, callX);
      expect(error).toMatchObject({ outcome: 'refused' });
      expect(String(error)).toMatch(
        /Rotating: the server refuses the credentials of the session, which an earlier run opened, and a new one could not be opened: .*initialize: .*HTTP 401 \(expired\)/,
      );
      expect(count(server, 'initialize')).toBe(2);
    });

    it('but not for a refusal of those that the run itself has sent', async () => {
      const { server, toolset, send } = await shops();
      send('t2');
      const { error } = await inRun(toolset, async (registry) => {
        server.script.on = { 'tools/call': (exchange) => exchange.raw(401, {}, 'expired') };
        return callX(registry);
      });
      expect(String(error)).toMatch(/tool "x": the server answered HTTP 401 \(expired\)/);
      expect(count(server, 'initialize')).toBe(2);
    });
  });

  it('after a server that has restarted while it waited', async () => {
    const { server, toolset } = await shop();
    await inRun(toolset, callX);
    await server.restart();
    expect(await inRun(toolset, callX)).toMatchObject({ status: 'success' });
  });

  it('after a call over stdio that took too long', async () => {
    const server = await rawStdio(stdio);
    const toolset = warmToolset({ ...server.connection, timeout: LIMIT });
    const { error } = await inRun(toolset, async (registry) => {
      const call = hung(registry);
      await server.waitFor('tools/call');
      clock.leap(LIMIT);
      return call;
    });
    expect(error).toBeInstanceOf(ProviderError);
    expect(open().size).toBe(0);
    expect(await inRun(toolset, callX)).toMatchObject({ status: 'success' });
  });

  it('after a call over stdio that was cancelled', async () => {
    const server = await rawStdio(stdio);
    const toolset = warmToolset(server.connection);
    await inRun(toolset, async (registry) => {
      const own = new AbortController();
      const call = hung(registry, { signal: own.signal });
      await server.waitFor('tools/call');
      own.abort();
      await expect(call).rejects.toThrow(CancelledError);
    });
    expect(open().size).toBe(0);
    expect(await inRun(toolset, callX)).toMatchObject({ status: 'success' });
  });

  it('after a run that ended with a call in flight', async () => {
    const { server, toolset } = await shop({ call: (_params, exchange) => exchange.hang() });
    const run = startRun();
    const call = expect(callX(await registered(run, toolset))).rejects.toThrow(CancelledError);
    await server.waitFor('tools/call');
    await run.close();
    await call;
    expect(open().size).toBe(0);
    expect(server.sessions).toEqual([]);
  });

  it('after a child that has ended while it waited', async () => {
    const server = await rawStdio(stdio);
    const toolset = warmToolset(server.connection);
    await inRun(toolset, callX);
    expect(open().size).toBe(1);
    await server.tell((exchange) => exchange.exit(0));
    await waitForNoChildren();
    while (open().size > 0) await setImmediate();
    await inRun(toolset, callX);
    expect(open().size).toBe(1);
  });

  it('after a message over the limit', async () => {
    const server = await rawStdio({
      ...stdio,
      call: () => ({ content: [{ type: 'text', text: 'x'.repeat(20_000) }] }),
    });
    const toolset = warmToolset({ ...server.connection, maxMessageBytes: 10_000 });
    expect(await inRun(toolset, callX)).toMatchObject({ error: { code: 'protocol_error' } });
    expect(open().size).toBe(0);
  });

  it('after a discovery that failed', async () => {
    const { server, toolset } = await shop({ tools: () => ({ tools: 'none' }) });
    await expect(inRun(toolset, callX)).rejects.toThrow(/expected "tools" to be an array/);
    expect(open().size).toBe(0);
    server.script.tools = [tool('x')];
    expect(await inRun(toolset, callX)).toMatchObject({ status: 'success' });
  });

  it.each<[string, NonNullable<RawHttpScript['call']>]>([
    ['an HTTP error', (_params, exchange) => exchange.raw(500, {}, 'unwell')],
    ['the HTTP error of servers that have lost it and do not say 404', (_params, exchange) => exchange.raw(400)],
    ['a connection that broke', (_params, exchange) => exchange.destroy()],
    ['what is no reply', (_params, exchange) => exchange.accept()],
    ['an event stream that ended', (_params, exchange) => exchange.sse().end()],
  ])('after a call over HTTP that was answered by %s', async (_what, call) => {
    const { server, toolset } = await shop({ call });
    expect(await inRun(toolset, callX)).toMatchObject({ status: 'error' });
    expect(open().size).toBe(0);
    server.script.call = () => text('done');
    expect(await inRun(toolset, callX)).toMatchObject({ content: 'done' });
    expect(count(server, 'initialize')).toBe(2);
  });

  it.each<[string, (run: Run, own: AbortController) => void]>([
    ['by its own signal', (_run, own) => own.abort()],
    ['by its run, which is closed later', (run) => run.cancel()],
    ['by its time', () => clock.leap(LIMIT)],
  ])('after a call over HTTP that was given up %s: the server may ask about it', async (_what, giveUp) => {
    const { server, toolset } = await shop({ call: () => undefined }, { timeout: LIMIT });
    await inRun(toolset, async (registry, run) => {
      const own = new AbortController();
      const call = registry.execute({ name: 'x' }, { signal: own.signal }).catch((error: unknown) => error);
      await server.waitFor('tools/call');
      giveUp(run, own);
      expect(await call).toBeDefined();
    });
    expect(open().size).toBe(0);
  });

  it('after the end of a child whose output another process keeps open', async () => {
    const server = await rawStdio({ ...stdio, on: { start: (exchange) => void exchange.spawnGrandchild() } });
    const toolset = warmToolset(server.connection);
    await inRun(toolset, callX);
    const [first] = server.pids;
    process.kill(Number(first), 'SIGKILL');
    while (isKnown(Number(first))) await setImmediate();
    expect(await inRun(toolset, callX)).toMatchObject({ status: 'success' });
  });

  it('after a task that was given up between two looks, although it was cancelled', async () => {
    const script = { tools: [tool('long', { execution: { taskSupport: 'required' } }), tool('x')] };
    const server = await taskServer({ status: () => task('working', { pollInterval: 60_000 }), script });
    const toolset = warmToolset(server.connection);
    const own = new AbortController();
    await inRun(toolset, async (registry) => {
      const call = expect(registry.execute({ name: 'long' }, { signal: own.signal })).rejects.toThrow(CancelledError);
      await server.waitFor('tasks/get');
      await callX(registry);
      own.abort();
      await call;
      await server.waitFor('tasks/cancel');
      await callX(registry);
    });
    expect(open().size).toBe(0);
  });

  it('after a task that nobody can ask for, since it was made without an id', async () => {
    const server = await taskServer({ script: { call: () => ({ task: { status: 'working' } }) } });
    const { error } = await inRun(warmToolset(server.connection), (registry) => registry.execute({ name: 'long' }));
    expect(String(error)).toContain('has no id');
    expect(open().size).toBe(0);
  });

  it('after a look at a task that was never answered, although the task had failed', async () => {
    const server = await taskServer({
      on: {
        'tasks/get': (exchange) =>
          count(server, 'tasks/get') === 1 ? exchange.json(task('input_required')) : exchange.hang(),
      },
      result: (exchange) => exchange.error(-32000, 'broken'),
    });
    const toolset = warmToolset(server.connection, { timeout: LIMIT });
    await inRun(toolset, async (registry) => {
      const call = registry.execute({ name: 'long' });
      // One to see how it goes, and one for what it says of the failure.
      await server.waitFor('tasks/get', 3);
      clock.leap(LIMIT);
      expect(await call).toMatchObject({ content: 'broken' });
    });
    expect(open().size).toBe(0);
  });

  it('and one is that never heard what it was asked about a task which had ended meanwhile', async () => {
    const server = await taskServer({
      on: {
        'tasks/get': (exchange) =>
          count(server, 'tasks/get') % 2 === 1 ? exchange.json(task('input_required')) : undefined,
      },
      result: async (exchange) => {
        await server.waitFor('tasks/get', 2 * count(server, 'tasks/result'));
        exchange.json(text('done'));
      },
    });
    const toolset = warmToolset(server.connection);
    const call = (registry: ToolRegistry) => registry.execute({ name: 'long' });
    expect(await inRun(toolset, call)).toMatchObject({ content: 'done' });
    expect(await inRun(toolset, call)).toMatchObject({ content: 'done' });
    expect(count(server, 'initialize')).toBe(1);
  });

  it('and one is that never heard of a call, which could not be sent', async () => {
    const { server, toolset } = await shop();
    const input = { size: 10n };
    await inRun(toolset, (registry) => registry.execute({ name: 'x', input }));
    await inRun(toolset, (registry) => registry.execute({ name: 'x' }, { signal: AbortSignal.abort() }).catch(() => 0));
    expect(await inRun(toolset, callX)).toMatchObject({ status: 'success' });
    expect(count(server, 'initialize')).toBe(1);
  });

  it('and one that answers an error is', async () => {
    const { server, toolset } = await shop({ call: (_params, exchange) => exchange.error(-32000, 'no') });
    expect(await inRun(toolset, callX)).toMatchObject({ content: 'no' });
    expect(await inRun(toolset, callX)).toMatchObject({ content: 'no' });
    expect(count(server, 'initialize')).toBe(1);
  });
});

/** Whether a child has not been waited for. */
function isKnown(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
