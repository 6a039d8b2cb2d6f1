import { CancelledError, DeadlineExceededError, ToolError, type HandlerContext } from 'mcp-toolset';
import { leapingClock, LIMIT } from '../leaping-clock';
import { closeServersAfterEach, rawStdio, startRawHttp, text, tool, type RawHttpServer } from '../servers';
import { closeRunsAfterEach, gate, listenersOf } from '../contract/live-run';
import { ask, askingServer, form, replyIn, replyTo, sampling, scene, UNDISCLOSED, type HandlerMethods } from './asking';

closeServersAfterEach();
closeRunsAfterEach();
const clock = leapingClock();

const fails = (error: unknown) => ({
  elicit: () => Promise.reject(error),
  sample: () => {
    throw error;
  },
  roots: async () => Promise.reject(error),
});
const requests: [string, object][] = [
  ['elicitation/create', form({})],
  ['sampling/createMessage', sampling('a')],
  ['roots/list', {}],
];

describe('a handler that throws', () => {
  it.each(requests)('answers %s with an error that discloses nothing; the call goes on', async (method, params) => {
    const { registry, log } = await scene(await askingServer(), fails(new Error('password=hunter2')));
    const execution = await registry.execute({ name: 'ask', input: { method, params } });
    expect(execution.status).toBe('success');
    expect(replyIn(execution)).toEqual(UNDISCLOSED);
    expect(log.errors).toEqual([expect.stringMatching(`^Toolset Asking, method .*${method} .*password=hunter2$`)]);
  });

  it.each(requests)('answers %s with the message of a ToolError, and logs nothing', async (method, params) => {
    const error = new ToolError('Not for you.', { cause: new Error('password=hunter2'), toolset: 'Asking' });
    const { registry, log } = await scene(await askingServer(), fails(error));
    expect(await ask(registry, method, { ...params })).toEqual({ error: { code: -32603, message: 'Not for you.' } });
    expect(log.errors).toEqual([]);
  });

  it.each([undefined, 'text', { code: -1, data: 'secret', message: 'secret' }])(
    'discloses nothing of what is no Error: %j',
    async (thrown) => {
      const { registry } = await scene(await askingServer(), fails(thrown));
      expect(await ask(registry, 'roots/list')).toEqual(UNDISCLOSED);
    },
  );
});

it.each(requests)(
  'a server that sends %s without a handler is told that there is no such method',
  async (method, params) => {
    const { registry, log } = await scene(await askingServer(), { progress: () => undefined });
    expect(await ask(registry, method, { ...params })).toEqual({
      error: { code: -32601, message: 'Method not found' },
    });
    expect(log.errors).toEqual([]);
  },
);

describe("a handler's signal", () => {
  /** A handler that never answers, what it was given, and the reason for which its signal aborted. */
  function thinking() {
    const begun = gate<HandlerContext>();
    const ended = gate<unknown>();
    const elicit: HandlerMethods['elicit'] = (_request, context) => {
      context.signal.addEventListener('abort', () => ended.open(context.signal.reason), { once: true });
      begun.open(context);
      return new Promise(() => undefined);
    };
    return { begun: begun.passed, ended: ended.passed, elicit };
  }
  const input = { method: 'elicitation/create', params: form({}) };

  it('aborts when the run is cancelled', async () => {
    const { begun, ended, elicit } = thinking();
    const { registry, run, log } = await scene(await askingServer(), { elicit });
    const call = registry.execute({ name: 'ask', input });
    call.catch(() => undefined);
    await begun;
    run.cancel('enough');
    expect(await ended).toBeInstanceOf(CancelledError);
    await expect(call).rejects.toBeInstanceOf(CancelledError);
    expect(log.errors).toEqual([]);
  });

  it('aborts when the call is cancelled, and the session goes on', async () => {
    const { begun, ended, elicit } = thinking();
    const server = await askingServer();
    const { registry, log } = await scene(server, { elicit });
    const abort = new AbortController();
    const call = registry.execute({ name: 'ask', input }, { signal: abort.signal });
    call.catch(() => undefined);
    await begun;
    abort.abort(new Error('enough'));
    await ended;
    await expect(call).rejects.toThrow();
    await server.waitFor('notifications/cancelled');
    expect(await ask(registry, 'sampling/createMessage')).toMatchObject({ error: { code: -32601 } });
    expect(log.errors).toEqual([]);
  });

  it('aborts when the server takes its request back; the call goes on, and nothing is answered', async () => {
    const { begun, ended, elicit } = thinking();
    const server: RawHttpServer = await startRawHttp({
      tools: [tool('x')],
      call: async (_params, exchange) => {
        const stream = exchange.sse().request('ask', 'elicitation/create', form({}));
        await begun;
        stream.notify('notifications/cancelled', { requestId: 'ask', reason: 'never mind' });
        await ended;
        stream.request('roots', 'roots/list');
        await replyTo(server, 'roots');
        stream.reply(text('done')).end();
      },
    });
    const { registry, log } = await scene(server, { elicit, roots: () => [] });
    expect(await registry.execute({ name: 'x' })).toMatchObject({ status: 'success', content: 'done' });
    expect(server.requests.filter(({ method }) => method === 'response').map(({ id }) => id)).toEqual(['roots']);
    expect(log.errors).toEqual([]);
  });

  it('aborts when the connection ends', async () => {
    const { begun, ended, elicit } = thinking();
    const server = await rawStdio({
      tools: [tool('x')],
      call: (_params, exchange) => exchange.request('ask', 'elicitation/create', exchange.data as never),
      data: form({}),
    });
    const { registry } = await scene(server, { elicit });
    const call = registry.execute({ name: 'x' });
    await begun;
    await Promise.all([server.tell((exchange) => exchange.die()), ended]);
    expect(await call).toMatchObject({ status: 'error' });
  });

  it('aborts at the deadline of the run, whatever the handler waits for', async () => {
    const { begun, ended, elicit } = thinking();
    const { registry } = await scene(await askingServer(), { elicit }, { run: { timeout: LIMIT } });
    const call = registry.execute({ name: 'ask', input });
    await begun;
    clock.leap(LIMIT);
    await expect(call).rejects.toBeInstanceOf(DeadlineExceededError);
    expect(await ended).toBeInstanceOf(DeadlineExceededError);
  });

  it('leaves no listener on the signals of the run and of the call', async () => {
    const { registry, run } = await scene(await askingServer(), { roots: () => [] });
    const before = listenersOf(run.signal);
    const { signal } = new AbortController();
    for (let count = 0; count < 20; count += 1) {
      await registry.execute({ name: 'ask', input: { method: 'roots/list' } }, { signal });
    }
    expect([listenersOf(run.signal), listenersOf(signal)]).toEqual([before, 0]);
  });
});
