import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { CancelledError, ProtocolError, RunFactory, ToolRegistry } from 'mcp-toolset';
import { container } from 'tsyringe';
import { Agent, type Dispatcher } from 'undici';
import { leapingClock } from '../leaping-clock';
import { closeServersAfterEach, text, type HttpExchange } from '../servers';
import { callOnce, connected, failureOf, rejectionOf, serverThat } from './connected';
import { through } from './dispatchers';
import { toolsetFor } from './live-run';

closeServersAfterEach();
const clock = leapingClock();

const JSON_TYPE = { 'content-type': 'application/json' };
const SENT = ['initialize', 'notifications/initialized', 'tools/list', 'tools/call', 'DELETE'];

function replyTo({ id }: HttpExchange, content = 'ok'): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result: text(content) });
}

describe('R38: without a fetch of its own a connection makes its requests', () => {
  const nodes = globalThis.fetch;

  it.each<[string, (counted: typeof fetch) => typeof fetch]>([
    ['something', (counted) => counted],
    [
      "something that names Node's",
      (counted) =>
        (...request) => (void 'internal/deps/undici', counted(...request)),
    ],
    ["something that says that it is Node's", (counted) => Object.assign(counted, { toString: () => String(nodes) })],
    [
      'something that is not to be asked',
      (counted) => Object.assign(counted, { toString: () => expect(true).toBe(false) }),
    ],
    [
      "something around Node's",
      (counted) =>
        new Proxy(nodes, { apply: (_nodes, _this, request) => counted(...(request as Parameters<typeof fetch>)) }),
    ],
  ])('by the global fetch where %s has replaced it, as long as it does', async (_what, replacement) => {
    const server = await serverThat((exchange) => exchange.json(text('ok')));
    let requests = 0;
    globalThis.fetch = replacement((...request) => {
      requests += 1;
      return nodes(...request);
    });
    try {
      expect(await callOnce(server.connection)).toMatchObject({ content: 'ok' });
    } finally {
      globalThis.fetch = nodes;
    }
    expect(await callOnce(server.connection)).toMatchObject({ content: 'ok' });
    expect(requests).toBe(SENT.length);
  });

  it("without fetch where it is Node's own, which would say what it fetches for", async () => {
    const server = await serverThat((exchange) => exchange.json(text('ok')));
    expect(await callOnce(server.connection)).toMatchObject({ content: 'ok' });
    expect(server.requests.filter(({ headers }) => 'sec-fetch-mode' in headers)).toEqual([]);
  });

  it("through the global dispatcher, be it the application's", async () => {
    const server = await serverThat((exchange) => exchange.json(text('ok')));
    const methods: string[] = [];
    class Watched extends Agent {
      override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandlers): boolean {
        methods.push(options.method);
        return super.dispatch(options, handler);
      }
    }
    const execution = await through(new Watched(), () => callOnce(server.connection));
    expect(execution).toMatchObject({ content: 'ok' });
    expect(methods).toEqual(['POST', 'POST', 'POST', 'POST', 'DELETE']);
  });

  it('that leave no listener on any signal', async () => {
    const listenedTo = new Set<EventTarget>();
    const { addEventListener } = EventTarget.prototype;
    const added = jest.spyOn(EventTarget.prototype, 'addEventListener');
    added.mockImplementation(function (this: EventTarget, ...listener) {
      if (listener[0] === 'abort') listenedTo.add(this);
      addEventListener.apply(this, listener);
    });
    try {
      const server = await serverThat((exchange) => exchange.sse().reply(text('ok')).end());
      await using session = await connected(server.connection);
      await session.call();
      expect(listenedTo.size).toBeGreaterThan(3);
      const listeners = (): unknown[] => [...listenedTo].flatMap((signal) => getEventListeners(signal, 'abort'));
      while (listeners().length > 0) await setImmediate();
    } finally {
      added.mockRestore();
    }
  });

  it('that say who asks, unless the application does', async () => {
    const server = await serverThat((exchange) => exchange.json(text('ok')));
    await callOnce(server.connection);
    await callOnce({ ...server.connection, headers: { 'User-Agent': 'shop/1', 'Accept-Encoding': 'identity' } });
    const told = server.requests.map(({ headers }) => [headers['user-agent'], headers['accept-encoding']]);
    expect(told).toEqual([...SENT.map(() => ['node', 'gzip, br']), ...SENT.map(() => ['shop/1', 'identity'])]);
  });

  it.each(['head', 'body'])(
    'that wait for the %s of an answer as long as the timeout says, and not five minutes',
    async (what) => {
      const minutes = 60_000;
      const server = await serverThat((exchange) => {
        const stream = what === 'body' ? exchange.sse() : undefined;
        clock.leap(10 * minutes);
        if (stream) stream.reply(text('ok')).end();
        else exchange.json(text('ok'));
      });
      // Its timers are those of this process's clock, and those of Node's own dispatcher are not.
      const execution = await through(new Agent(), () => callOnce({ ...server.connection, timeout: 20 * minutes }));
      expect(execution).toMatchObject({ content: 'ok' });
    },
  );

  it('that are over at once when the run is cancelled while they connect', async () => {
    let connecting = (): void => undefined;
    const begun = new Promise<void>((resolve) => (connecting = resolve));
    await through(new Agent({ connect: () => connecting() }), async () => {
      const run = container.resolve(RunFactory).start();
      const toolset = toolsetFor({ url: 'https://mcp.example/mcp' });
      const registering = rejectionOf(run.resolve(ToolRegistry).register(toolset));
      await begun;
      run.cancel();
      expect(await registering).toBeInstanceOf(CancelledError);
      await run.close();
    });
  });
});

describe('R38: an answer is understood', () => {
  it('event by event where an event stream is compressed', async () => {
    const server = await serverThat(async (exchange) => {
      const zip = createGzip();
      const stream = exchange.sse({ 'content-encoding': 'gzip' });
      zip.on('data', (chunk: Buffer) => stream.write(chunk));
      zip.write(`data: ${replyTo(exchange)}\n\n`);
      zip.flush();
      await exchange.waitForClose();
      zip.destroy();
    });
    await using session = await connected(server.connection);
    expect(await session.call()).toMatchObject({ content: 'ok' });
  });

  it.each<[string, string, (body: string) => string | Uint8Array]>([
    ['that is compressed twice', 'gzip, gzip', (body) => gzipSync(gzipSync(body))],
    ['that is not compressed, though it says how', 'identity', (body) => body],
    ['that lacks the end of its compression', 'gzip', (body) => gzipSync(body).subarray(0, -8)],
    ['in upper case', 'GZIP', (body) => gzipSync(body)],
  ])('%s', async (_what, encoding, encode) => {
    const server = await serverThat((exchange) =>
      exchange.raw(200, { ...JSON_TYPE, 'content-encoding': encoding }, encode(replyTo(exchange))),
    );
    expect(await callOnce(server.connection)).toMatchObject({ content: 'ok' });
  });

  const four = (body: string): Uint8Array => gzipSync(gzipSync(gzipSync(gzipSync(body))));

  it('but not where it is compressed more than three times, each of which takes memory', async () => {
    const server = await serverThat((exchange) =>
      exchange.raw(200, { ...JSON_TYPE, 'content-encoding': 'gzip,gzip,gzip,gzip' }, four(replyTo(exchange))),
    );
    const failure = failureOf(await callOnce(server.connection));
    expect(failure).toBeInstanceOf(ProtocolError);
    expect(failure.message).toContain('cannot be read');
  });

  it('whatever bytes its headers hold, and however often they come', async () => {
    const server = await serverThat((exchange) => {
      const headers = { ...JSON_TYPE, 'x-note': ['\u00e9\u00ff', Buffer.from('\u20ac').toString('latin1')] };
      exchange.raw(200, headers, Buffer.from(replyTo(exchange)));
    });
    expect(await callOnce(server.connection)).toMatchObject({ content: 'ok' });
  });
});
