import { CancelledError, DeadlineExceededError, ProviderError } from 'mcp-toolset';
import { leapingClock, LIMIT } from '../leaping-clock';
import { closeServersAfterEach, rawStdio, startRawHttp, taken, text, tool, type RawHttpServer } from '../servers';
import { closeRunsAfterEach, gate } from '../contract/live-run';
import { ask, askingServer, form, replyTo, scene } from './asking';

closeServersAfterEach();
closeRunsAfterEach();
const clock = leapingClock();

const accept = { action: 'accept' as const };
/** A person who needs more time than a call has. */
const thinkLong = async () => {
  clock.leap(3 * LIMIT);
  return accept;
};

describe('the time of a call', () => {
  it('stands still while a handler runs', async () => {
    const { registry } = await scene(await askingServer(), { elicit: thinkLong }, { timeout: LIMIT });
    expect(await ask(registry, 'elicitation/create', form({}))).toEqual({ result: { action: 'accept', content: {} } });
  });

  it('stands still over stdio', async () => {
    const server = await rawStdio({
      tools: [tool('x')],
      data: { call: 0, params: form({}) },
      call: (_params, exchange) => {
        exchange.data.call = exchange.id as number;
        exchange.request('ask', 'elicitation/create', exchange.data.params);
      },
      on: { response: (exchange) => exchange.reply(exchange.data.call, { content: [] }) },
    });
    const { registry } = await scene(server, { elicit: thinkLong }, { timeout: LIMIT });
    expect(await registry.execute({ name: 'x' })).toMatchObject({ status: 'success' });
  });

  it('stands still until the last of several handlers has ended', async () => {
    const last = gate();
    const server: RawHttpServer = await startRawHttp({
      tools: [tool('x')],
      call: async (_params, exchange) => {
        const stream = exchange.sse().request('slow', 'elicitation/create', form({})).request('quick', 'roots/list');
        await replyTo(server, 'quick');
        clock.leap(2 * LIMIT);
        last.open();
        await replyTo(server, 'slow');
        stream.reply(text('done')).end();
      },
    });
    const elicit = async () => {
      await last.passed;
      return accept;
    };
    const { registry } = await scene(server, { elicit, roots: () => [] }, { timeout: LIMIT });
    expect(await registry.execute({ name: 'x' })).toMatchObject({ content: 'done' });
  });

  it('goes on after the handler has answered', async () => {
    const server: RawHttpServer = await startRawHttp({
      tools: [tool('x')],
      call: (_params, exchange) => void exchange.sse().request('ask', 'elicitation/create', form({})),
    });
    const { registry } = await scene(server, { elicit: async () => accept }, { timeout: LIMIT });
    const call = registry.execute({ name: 'x' });
    const reply = await replyTo(server, 'ask');
    clock.leap(LIMIT);
    const { error } = await call;
    expect(error).toBeInstanceOf(ProviderError);
    expect((error as ProviderError).message).toContain(`no answer within ${LIMIT} ms`);
    expect(reply.message).toMatchObject({ result: { action: 'accept' } });
  });

  it('goes on after the server has taken its request back', async () => {
    const begun = gate();
    const server: RawHttpServer = await startRawHttp({
      tools: [tool('x')],
      call: async (_params, exchange) => {
        const stream = exchange.sse().request('ask', 'elicitation/create', form({}));
        await begun.passed;
        await taken(server, stream.notify('notifications/cancelled', { requestId: 'ask' }));
        clock.leap(LIMIT);
      },
    });
    const elicit = () => {
      begun.open();
      return new Promise<typeof accept>(() => undefined);
    };
    const { registry } = await scene(server, { elicit }, { timeout: LIMIT });
    expect((await registry.execute({ name: 'x' })).error).toBeInstanceOf(ProviderError);
  });

  it('of another call goes on while the handler of the first one runs', async () => {
    const { passed: hanging, open } = gate();
    const begun = gate();
    const server = await startRawHttp({
      tools: [tool('asks'), tool('hangs')],
      call: async ({ name }, exchange) => {
        const stream = exchange.sse();
        if (name === 'hangs') return open();
        await hanging;
        stream.request('ask', 'elicitation/create', form({}));
      },
    });
    const elicit = () => {
      begun.open();
      return new Promise<typeof accept>(() => undefined);
    };
    const { registry } = await scene(server, { elicit }, { timeout: LIMIT });
    const abort = new AbortController();
    const asking = registry.execute({ name: 'asks' }, { signal: abort.signal });
    asking.catch(() => undefined);
    const hangs = registry.execute({ name: 'hangs' });
    await begun.passed;
    clock.leap(LIMIT);
    expect((await hangs).error).toBeInstanceOf(ProviderError);
    abort.abort();
    await expect(asking).rejects.toThrow(CancelledError);
  });
});

it("the deadline of a run does not stand still while a handler runs, and the run's handlers end with it", async () => {
  const server = await askingServer();
  const begun = gate();
  const elicit = () => {
    begun.open();
    return new Promise<typeof accept>(() => undefined);
  };
  const { registry } = await scene(server, { elicit }, { run: { timeout: LIMIT } });
  const call = registry.execute({ name: 'ask', input: { method: 'elicitation/create', params: form({}) } });
  await begun.passed;
  clock.leap(LIMIT);
  await expect(call).rejects.toBeInstanceOf(DeadlineExceededError);
});
