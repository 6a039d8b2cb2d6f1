import type { LogNotification } from 'mcp-toolset';
import { closeServersAfterEach, startRawHttp, text, tool, type HttpExchange, type RawHttpScript } from '../servers';
import { closeRunsAfterEach, gate } from '../contract/live-run';
import { ask, askingServer, form, replyTo, scene, type HandlerMethods } from './asking';

closeServersAfterEach();
closeRunsAfterEach();

const isGet = ({ httpMethod }: HttpExchange): boolean => httpMethod === 'GET';
const told = () => undefined;
const silent: RawHttpScript = { tools: [tool('x')], on: { GET: (exchange) => exchange.sse().end() } };
const standing: RawHttpScript = { tools: [tool('x')], on: { GET: (exchange) => void exchange.sse() } };

function nested(levels: number): unknown[] {
  return levels === 1 ? [] : [nested(levels - 1)];
}

describe('R38: the standing stream', () => {
  it.each<[string, HandlerMethods]>([
    ['@OnElicitation', { elicit: () => ({ action: 'cancel' }) }],
    ['@OnSampling', { sample: () => Promise.reject(new Error('none')) }],
    ['@ListRoots', { roots: () => [] }],
    ['@OnLog', { log: told }],
    ['@OnToolsChanged', { changed: told }],
  ])('is opened where %s listens', async (_, handlers) => {
    const server = await startRawHttp(standing);
    await scene(server, handlers);
    const { headers } = await server.waitFor(isGet);
    expect(headers).toMatchObject({ accept: 'text/event-stream', 'mcp-session-id': server.sessions[0] });
  });

  it.each<[string, HandlerMethods]>([
    ['nothing', {}],
    ['@OnProgress alone, which comes with its call,', { progress: told }],
  ])('is not opened where %s listens', async (_, handlers) => {
    const server = await startRawHttp(standing);
    const { registry, run } = await scene(server, handlers);
    await registry.execute({ name: 'x' });
    await run.close();
    expect(server.requests.filter(isGet)).toEqual([]);
  });

  it('may be refused by the server: calls do not need it', async () => {
    const server = await startRawHttp({ tools: [tool('x')] });
    const { registry } = await scene(server, { log: told });
    await server.waitFor(isGet);
    expect(await registry.execute({ name: 'x' })).toMatchObject({ status: 'success' });
  });

  it('brings requests and notifications outside of calls', async () => {
    const opened = gate<HttpExchange>();
    const server = await startRawHttp({ ...standing, on: { GET: (exchange) => opened.open(exchange) } });
    const seen: unknown[] = [];
    await scene(server, {
      elicit: ({ message }, context) => {
        seen.push(message, Object.keys(context).sort());
        return { action: 'decline' };
      },
      log: ({ data }) => seen.push(data),
    });
    const stream = (await opened.passed).sse();
    stream.notify('notifications/message', { level: 'info', data: 'hello' });
    stream.request('ask', 'elicitation/create', { ...form({}), message: 'well?' });
    expect((await replyTo(server, 'ask')).message).toMatchObject({ result: { action: 'decline' } });
    expect(seen).toEqual(['hello', 'well?', ['binding', 'signal']]);
  });

  it('is opened again after the last event, and tells nothing twice', async () => {
    const full = gate();
    const lines: unknown[] = [];
    let openings = 0;
    const server = await startRawHttp({
      ...standing,
      on: {
        GET: (exchange) => {
          openings += 1;
          const params = { level: 'info', data: openings };
          const stream = exchange.sse();
          stream.event({ jsonrpc: '2.0', method: 'notifications/message', params }, { id: `e-${openings}` });
          if (openings < 3) stream.end();
        },
      },
    });
    const log = ({ data }: LogNotification): unknown => lines.push(data) === 3 && full.open();
    await scene(server, { log });
    await full.passed;
    expect(lines).toEqual([1, 2, 3]);
    const gets = server.requests.filter(isGet);
    expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'e-1', 'e-2']);
  });

  it('is given up after it was silent a few times in a row', async () => {
    const server = await startRawHttp(silent);
    const { registry } = await scene(server, { log: told });
    await (await server.waitFor(isGet, 4)).waitForClose();
    const clock = await startRawHttp(silent); // its second opening comes when a fifth of the other server were due
    await scene(clock, { log: told });
    await clock.waitFor(isGet, 2);
    expect(server.requests.filter(isGet)).toHaveLength(4);
    expect(await registry.execute({ name: 'x' })).toMatchObject({ status: 'success' });
  }, 60_000);

  it.each([409, 503])('is opened again also where that fails once with %i', async (status) => {
    const heard = gate<unknown>();
    let openings = 0;
    const server = await startRawHttp({
      ...standing,
      on: {
        GET: (exchange) => {
          openings += 1;
          if (openings === 1) return exchange.sse().end();
          if (openings === 2) return exchange.raw(status);
          return void exchange.sse().notify('notifications/message', { level: 'info', data: 'again' });
        },
      },
    });
    await scene(server, { log: ({ data }) => heard.open(data) });
    expect(await heard.passed).toBe('again');
  });

  it.each([404, 405])('is not asked for again after %i', async (status) => {
    const server = await startRawHttp({
      ...standing,
      on: {
        GET: (exchange) => (server.requests.filter(isGet).length === 1 ? exchange.sse().end() : exchange.raw(status)),
      },
    });
    await scene(server, { log: told });
    await (await server.waitFor(isGet, 2)).waitForClose();
    const clock = await startRawHttp(silent); // its third opening comes when one of the other server were long due
    await scene(clock, { log: told });
    await clock.waitFor(isGet, 3);
    expect(server.requests.filter(isGet)).toHaveLength(2);
  });

  it('tells an event once that broke off before its end and comes again', async () => {
    const lines: unknown[] = [];
    const last = gate();
    const line = (data: string): string =>
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } });
    const server = await startRawHttp({
      ...standing,
      on: {
        GET: (exchange) => {
          const stream = exchange.sse();
          if (server.requests.filter(isGet).length === 1)
            return stream
              .event(line('one'), { id: '1' })
              .write(`id: 2\ndata: ${line('two')}\n`)
              .end();
          return void stream.event(line('two'), { id: '2' }).event(line('three'));
        },
      },
    });
    await scene(server, { log: ({ data }) => lines.push(data) === 3 && last.open() });
    await last.passed;
    expect(lines).toEqual(['one', 'two', 'three']);
  });

  it('ends when the run is closed, and is not opened again', async () => {
    const server = await startRawHttp(standing);
    const { run } = await scene(server, { log: told });
    const stream = await server.waitFor(isGet);
    await run.close();
    expect(await stream.waitForClose()).toBe('aborted');
    const closed = server.requests.length;
    const clock = await startRawHttp(silent);
    await scene(clock, { log: told });
    await clock.waitFor(isGet, 2);
    expect(server.requests).toHaveLength(closed);
  });

  it('that waits to be opened again does not hold up closing', async () => {
    const server = await startRawHttp({
      ...silent,
      on: { GET: (exchange) => exchange.sse().event('', { retry: 30_000 }).end() },
    });
    const { run } = await scene(server, { log: told });
    await (await server.waitFor(isGet)).waitForClose();
    await run.close();
    expect(server.requests.filter(isGet)).toHaveLength(1);
  });

  it.each([
    ['longer than the limit', 'x'.repeat(5_000)],
    ['nested too deep', nested(1_000)],
  ])('cannot bring an event that is %s, and calls go on', async (_what, data) => {
    const server = await startRawHttp({
      ...standing,
      on: { GET: (exchange) => void exchange.sse().notify('notifications/message', { data }) },
    });
    const lines: unknown[] = [];
    const connection = { ...server.connection, maxResponseBytes: 4_000 };
    const { registry } = await scene({ connection }, { log: (line) => lines.push(line) });
    await (await server.waitFor(isGet)).waitForClose();
    expect(await registry.execute({ name: 'x' })).toMatchObject({ status: 'success' });
    expect(lines).toEqual([]);
  });
});

describe('R43: a session that was reopened', () => {
  it('has its handlers, its capabilities and its standing stream again', async () => {
    const server = await askingServer({ on: { GET: (exchange) => void exchange.sse() } });
    const { registry } = await scene(server, { elicit: () => ({ action: 'decline' }) });
    await server.waitFor(isGet);
    server.forgetSessions();
    expect(await ask(registry, 'elicitation/create', form({}))).toEqual({ result: { action: 'decline' } });
    const { params, sessionId } = await server.waitFor('initialize', 2);
    expect(sessionId).toBeUndefined();
    expect(params.capabilities).toEqual({ elicitation: { form: {}, url: {} } });
    const again = await server.waitFor(isGet, 2);
    expect(again.sessionId).toBe(server.sessions[0]);
  });
});

it("what one run's server asks never reaches the handlers of another run", async () => {
  const users = ['ada', 'grace', 'joan'];
  const all = gate();
  let waiting = 0;
  const server = await startRawHttp({
    tools: [tool('whoami')],
    call: async (_params, exchange) => {
      const { user } = exchange.headers;
      if ((waiting += 1) === users.length) all.open();
      await all.passed;
      const stream = exchange.sse().request(`of ${String(user)}`, 'elicitation/create', {
        ...form({ name: { type: 'string' } }),
        message: String(user),
      });
      const { message, headers } = await replyTo(server, `of ${String(user)}`);
      expect(headers.user).toBe(user);
      const { result } = message as { result: { content: { name: string } } };
      stream.reply(text(result.content.name)).end();
    },
  });
  const answers = users.map(async (actorId) => {
    const connection = { ...server.connection, headers: { user: actorId } };
    const elicit: HandlerMethods['elicit'] = ({ message }, { binding }) => {
      expect(message).toBe(actorId);
      return { action: 'accept', content: { name: String(binding.run?.invocation.actorId) } };
    };
    const { registry } = await scene({ connection }, { elicit }, { run: { actorId } });
    return (await registry.execute({ name: 'whoami' })).content;
  });
  expect(await Promise.all(answers)).toEqual(users);
});
