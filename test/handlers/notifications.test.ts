import type {
  HandlerContext,
  HttpConnectionOptions,
  LogNotification,
  ProgressNotification,
  StdioConnectionOptions,
} from 'mcp-toolset';
import { closeServersAfterEach, rawStdio, startRawHttp, text, tool } from '../servers';
import { closeRunsAfterEach, gate } from '../contract/live-run';
import { scene } from './asking';

closeServersAfterEach();
closeRunsAfterEach();

/** What a handler was told, and a promise for the moment when it has been told enough. */
function recorder<T>(enough: number) {
  const told: { what: T; context: HandlerContext }[] = [];
  const full = gate();
  const handler = (what: T, context: HandlerContext): void => {
    told.push({ what, context });
    if (told.length >= enough) full.open();
  };
  return { told, handler, full: full.passed };
}

describe('progress', () => {
  it('is told with its call, in order, also when the reply follows at once', async () => {
    const server = await startRawHttp({
      tools: [tool('copy')],
      call: (_params, exchange) => void exchange.sse().progress(1, 2).progress(2, 2).reply(text('done')).end(),
    });
    const { told, handler, full } = recorder<ProgressNotification>(2);
    const { registry } = await scene(server, { progress: handler });
    const input = { from: 'a' };
    expect(await registry.execute({ id: 'call-7', name: 'copy', input })).toMatchObject({ content: 'done' });
    await full;
    expect(told.map(({ what }) => what)).toEqual([
      { progress: 1, total: 2 },
      { progress: 2, total: 2 },
    ]);
    for (const { context } of told) {
      expect(context).toMatchObject({ mcpTool: { name: 'copy' }, arguments: { from: 'a' }, callId: 'call-7' });
    }
  });

  it('is told with its call over stdio', async () => {
    const server = await rawStdio({
      tools: [tool('copy')],
      call: (_params, exchange) => {
        exchange.progress(1, 2);
        exchange.progress(2, 2);
        return { content: [] };
      },
    });
    const { told, handler, full } = recorder<ProgressNotification>(2);
    const { registry } = await scene(server, { progress: handler });
    expect(await registry.execute({ id: 'c', name: 'copy' })).toMatchObject({ status: 'success' });
    await full;
    expect(told.map(({ what, context }) => [what.progress, context.mcpTool?.name, context.callId])).toEqual([
      [1, 'copy', 'c'],
      [2, 'copy', 'c'],
    ]);
  });

  it('of an unknown token reaches nobody', async () => {
    const server = await startRawHttp({
      tools: [tool('copy')],
      call: (_params, exchange) => {
        const stream = exchange.sse();
        stream.notify('notifications/progress', { progressToken: 999, progress: 1 });
        stream.progress(2).reply(text('done')).end();
      },
    });
    const { told, handler, full } = recorder<ProgressNotification>(1);
    const { registry } = await scene(server, { progress: handler });
    await registry.execute({ name: 'copy' });
    await full;
    expect(told.map(({ what }) => what)).toEqual([{ progress: 2 }]);
  });
});

describe('logs', () => {
  it('are told with the binding of the run, and with the call on whose stream they came', async () => {
    const server = await startRawHttp({
      tools: [tool('x')],
      call: (_params, exchange) => {
        const stream = exchange.sse();
        stream.notify('notifications/message', { level: 'info', logger: 'shop', data: { a: 1 } });
        stream.reply(text('done')).end();
      },
    });
    const { told, handler, full } = recorder<LogNotification>(1);
    const { registry, run } = await scene(server, { log: handler });
    await registry.execute({ id: 'c', name: 'x', input: { q: 1 } });
    await full;
    expect(told[0]?.what).toEqual({ level: 'info', logger: 'shop', data: { a: 1 } });
    const { binding, signal, mcpTool, ...rest } = told[0]?.context ?? ({} as HandlerContext);
    expect(binding.run).toBe(run);
    expect(signal.aborted).toBe(false);
    expect(mcpTool?.name).toBe('x');
    expect(rest).toEqual({ arguments: { q: 1 }, callId: 'c' });
  });

  it('are told with that call also where they come with its reply in one body that is no stream', async () => {
    const server = await startRawHttp({
      tools: [tool('x')],
      call: (_params, exchange) => {
        const log = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'a' } };
        const reply = { jsonrpc: '2.0', id: exchange.id, result: text('done') };
        const late = { ...log, params: { level: 'info', data: 'b' } };
        void exchange.raw(200, { 'content-type': 'application/json' }, JSON.stringify([log, reply, late]));
      },
    });
    const { told, handler, full } = recorder<LogNotification>(2);
    const { registry } = await scene(server, { log: handler });
    expect(await registry.execute({ id: 'c', name: 'x' })).toMatchObject({ content: 'done' });
    await full;
    expect(told.map(({ what, context }) => [what.data, context?.callId])).toEqual([
      ['a', 'c'],
      ['b', undefined],
    ]);
  });

  it('of a server that says them while it connects are told too, with no call', async () => {
    const server = await rawStdio({
      tools: [tool('x')],
      on: {
        initialize: async (exchange) => {
          exchange.notify('notifications/message', { level: 'info', data: 'early' });
          await exchange.polite();
        },
      },
    });
    const { told, handler, full } = recorder<LogNotification>(1);
    await scene(server, { log: handler });
    await full;
    expect(told[0]?.what.data).toBe('early');
    expect(Object.keys(told[0]?.context ?? {}).sort()).toEqual(['binding', 'signal']);
  });
});

describe('a change of the tools', () => {
  it('R15: is told, and changes no class that was handed out', async () => {
    const server = await rawStdio({ tools: [tool('x', { description: 'Before.' })] });
    const { handler, full } = recorder<object>(1);
    const { registry } = await scene(server, { changed: handler });
    const before = registry.specifications;
    await server.tell((exchange) => exchange.notify('notifications/tools/list_changed'));
    await full;
    expect(registry.specifications).toEqual(before);
    expect(server.received.filter(({ method }) => method === 'tools/list')).toHaveLength(1);
    expect(await registry.execute({ name: 'x', input: { a: 1 } })).toMatchObject({ content: '{"a":1}' });
  });
});

describe('progress and logs that come in one piece, with the reply', () => {
  async function inOrder(server: {
    readonly connection: HttpConnectionOptions | StdioConnectionOptions;
  }): Promise<string[]> {
    const told: string[] = [];
    const { registry, run } = await scene(server, {
      progress: ({ progress }: ProgressNotification) => void told.push(`progress ${progress}`),
      log: ({ data }: LogNotification) => void told.push(`log ${String(data)}`),
    });
    expect(await registry.execute({ name: 'x' })).toMatchObject({ content: 'done' });
    await run.close();
    return told;
  }

  it('are told in the order in which they came, of an event stream', async () => {
    const server = await startRawHttp({
      tools: [tool('x')],
      call: (_params, exchange) => {
        const { id, progressToken } = exchange;
        const log = (data: string) => ({ method: 'notifications/message', params: { level: 'info', data } });
        const progress = (count: number) => ({
          method: 'notifications/progress',
          params: { progressToken, progress: count },
        });
        const messages = [log('a'), progress(1), log('b'), progress(2), { id, result: text('done') }];
        const events = messages.map((message) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
        exchange.sse().write(events.join('')).end();
      },
    });
    expect(await inOrder(server)).toEqual(['log a', 'progress 1', 'log b', 'progress 2']);
  });

  it('are told in the order in which they came, over stdio', async () => {
    const server = await rawStdio({
      tools: [tool('x')],
      call: ({ _meta }, { id, write }) => {
        const { progressToken } = _meta as { progressToken: unknown };
        const log = (data: string) => ({ method: 'notifications/message', params: { level: 'info', data } });
        const progress = (count: number) => ({
          method: 'notifications/progress',
          params: { progressToken, progress: count },
        });
        const reply = { id, result: { content: [{ type: 'text', text: 'done' }] } };
        const messages = [log('a'), progress(1), log('b'), progress(2), reply];
        write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
      },
    });
    expect(await inOrder(server)).toEqual(['log a', 'progress 1', 'log b', 'progress 2']);
  });
});
