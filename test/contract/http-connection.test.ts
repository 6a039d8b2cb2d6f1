import { ConfigurationError, McpToolset, type ConnectionOptions } from 'mcp-toolset';
import { closeServersAfterEach, startRawHttp, text, tool, type HttpExchange } from '../servers';
import { callOnce, connected, inPieces, rejectionOf, serverThat } from './connected';

closeServersAfterEach();

const JSON_TYPE = { 'content-type': 'application/json' };

function replyTo({ id }: HttpExchange, content: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result: text(content) });
}

describe('R38: https: only', () => {
  const declare = (connection: ConnectionOptions) => (): void => {
    @McpToolset({ connection })
    class Declared {}
    void Declared;
  };

  it.each([
    ['http:', 'http://mcp.example/', /"url" is not https:.*set allowInsecureHttp/],
    ['http: as a URL object', new URL('http://127.0.0.1/'), /"url" is not https:/],
    ['ws:', 'wss://mcp.example/', /scheme wss:; expected https:/],
    ['file:', 'file:///etc/passwd', /scheme file:/],
    ['no URL', '/mcp', /"url" is not a URL/],
    ['credentials in it', 'https://user:hidden@mcp.example/', /send credentials in "headers"/],
    ['a user name in it', 'https://hidden@mcp.example/', /send credentials in "headers"/],
  ])('at the declaration: %s', (_what, url, message) => {
    expect(declare({ url })).toThrow(ConfigurationError);
    expect(declare({ url })).toThrow(message);
    expect(declare({ url })).not.toThrow(/hidden/);
    expect(declare({ url: 'https://mcp.example/' })).not.toThrow();
  });

  it('also where a function of the binding returns the options, and nothing goes out', async () => {
    const server = await startRawHttp();
    const failure = await rejectionOf(connected(() => ({ url: server.url }), { optional: true }));
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect(server.requests).toEqual([]);
  });

  it('allowInsecureHttp allows http: and nothing else', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    expect(await callOnce({ url: server.url, allowInsecureHttp: true })).toMatchObject({ status: 'success' });
    expect(declare({ url: server.url, allowInsecureHttp: false })).toThrow(/not https:/);
    expect(declare({ url: 'ftp://mcp.example/', allowInsecureHttp: true })).toThrow(/scheme ftp:/);
  });
});

describe('R38: the standing GET stream is not opened where nothing listens to it', () => {
  it('although the server offers one', async () => {
    const server = await startRawHttp({ tools: [tool('a')], on: { GET: (exchange) => void exchange.sse() } });
    expect(await callOnce(server.connection)).toMatchObject({ status: 'success' });
    expect(server.requests.map(({ method }) => method)).toEqual([
      ...['initialize', 'notifications/initialized', 'tools/list', 'tools/call', 'DELETE'],
    ]);
  });
});

describe('R38: a session that is closed leaves no request open', () => {
  it('that keeps its stream open after the reply', async () => {
    const server = await serverThat((exchange) => void exchange.sse().reply(text('ok')));
    expect(await callOnce(server.connection)).toMatchObject({ content: 'ok' });
    await server.waitForNoRequests();
  });

  it('nor does an open session keep such streams for long', async () => {
    const server = await serverThat((exchange) => void exchange.sse().reply(text('ok')));
    await using session = await connected(server.connection);
    await Promise.all([session.call(), session.call(), session.call()]);
    await server.waitForNoRequests();
    expect(server.sessions).toHaveLength(1);
  });

  it('nor, for long, a request whose reply came on the stream of another call', async () => {
    const server = await serverThat((exchange) => exchange.hang());
    await using session = await connected(server.connection);
    const calls = [session.call({ n: 1 }), session.call({ n: 2 })];
    const [first, second] = [await server.waitFor('tools/call', 1), await server.waitFor('tools/call', 2)];
    first.sse().event(replyTo(second, 'two')).event(replyTo(first, 'one')).end();
    await Promise.all(calls);
    await server.waitForNoRequests();
    expect(server.sessions).toHaveLength(1);
  });

  it('whose reply came on the stream of another call', async () => {
    const server = await serverThat((exchange) => exchange.hang());
    const signals: (AbortSignal | null | undefined)[] = [];
    const session = await connected({
      ...server.connection,
      fetch: (url, init) => {
        if (typeof init?.body === 'string' && init.body.includes('tools/call')) signals.push(init.signal);
        return fetch(url, init);
      },
    });
    const calls = [session.call({ n: 1 }), session.call({ n: 2 })];
    const [first, second] = [await server.waitFor('tools/call', 1), await server.waitFor('tools/call', 2)];
    first.sse().event(replyTo(second, 'two')).event(replyTo(first, 'one')).end();
    expect(new Set((await Promise.all(calls)).map(({ content }) => content))).toEqual(new Set(['one', 'two']));
    await session.run.close();
    expect(signals.filter((signal) => signal?.aborted)).toHaveLength(1); // the second call's; the first has ended
    await server.waitForNoRequests();
  });

  it('that sends what it likes instead of a body', async () => {
    const server = await serverThat(async (exchange) => {
      const stream = exchange.sse().reply(text('ok'));
      for (; !stream.closed; await stream.drained()) stream.write(': and so on\n\n');
    });
    expect(await callOnce(server.connection)).toMatchObject({ content: 'ok' });
    await server.waitForNoRequests();
  });
});

describe('R38: a reply is understood', () => {
  it.each([1, 2, 3, 7])(
    'from an event stream in pieces of %i bytes, inside characters and line ends too',
    async (size) => {
      const content = 'h\u00e9llo \u{1f600} \u65e5\u672c\u2028';
      const server = await serverThat((exchange) =>
        exchange
          .sse()
          .write(`: comment\r\n\r\nevent: ping\r\ndata: {}\r\n\r\nid: 1\r\nevent: message\r\n`)
          .write(`data: ${replyTo(exchange, content)}\r\n\r\n`)
          .end(),
      );
      expect(await callOnce({ ...server.connection, fetch: inPieces(size) })).toMatchObject({ content });
      expect(server.requests.filter(({ method }) => method === 'GET')).toEqual([]);
    },
  );

  it.each<[string, (exchange: HttpExchange) => unknown]>([
    ['with a byte order mark', (x) => x.sse().write('\u{feff}').event(replyTo(x, 'ok')).end()],
    [
      'over several data lines',
      (x) =>
        x
          .sse()
          .write(`data: ${replyTo(x, 'ok').replace(',', ',\ndata: ')}\n\n`)
          .end(),
    ],
    [
      'without a space after the colon',
      (x) =>
        x
          .sse()
          .write(`data:${replyTo(x, 'ok')}\n\n`)
          .end(),
    ],
    [
      'with lines that end by CR alone',
      (x) =>
        x
          .sse()
          .write(`event: message\rdata: ${replyTo(x, 'ok')}\r\r`)
          .write('\n')
          .end(),
    ],
    [
      'after events that are no message',
      (x) => x.sse().write('event: ping\ndata: x\n\nfoo: bar\n\n').event(replyTo(x, 'ok')).end(),
    ],
    ['after events that are broken', (x) => x.sse().event('{').event('null').event('[]').event(replyTo(x, 'ok')).end()],
    ['before a second reply', (x) => x.sse().event(replyTo(x, 'ok')).event(replyTo(x, 'again')).end()],
    ['before an error', (x) => x.sse().event(replyTo(x, 'ok')).error(1, 'late').end()],
    [
      'after a reply to another id',
      (x) => x.sse().event({ jsonrpc: '2.0', id: 0, result: {} }).event(replyTo(x, 'ok')).end(),
    ],
    [
      'by its id as a string',
      (x) =>
        x
          .sse()
          .event({ jsonrpc: '2.0', id: String(x.id), result: text('ok') })
          .end(),
    ],
    [
      'from JSON by its id as a string',
      (x) => x.raw(200, JSON_TYPE, replyTo(x, 'ok').replace(/"id":(\d+)/, '"id":"$1"')),
    ],
    [
      'from JSON with parameters in odd case',
      (x) => x.raw(200, { 'content-type': 'Application/JSON ; CharSet="UTF-8"' }, replyTo(x, 'ok')),
    ],
    [
      'from a stream with parameters in odd case',
      (x) => x.sse({ 'content-type': 'Text/Event-Stream;CHARSET=utf-8' }).event(replyTo(x, 'ok')).end(),
    ],
    ['from JSON with a byte order mark', (x) => x.raw(200, JSON_TYPE, `\u{feff}${replyTo(x, 'ok')}`)],
    ['from JSON with status 201', (x) => x.raw(201, JSON_TYPE, replyTo(x, 'ok'))],
    [
      'from a batch',
      (x) => x.raw(200, JSON_TYPE, `[{"jsonrpc":"2.0","method":"notifications/x"},${replyTo(x, 'ok')}]`),
    ],
    [
      'from a batch, before an error',
      (x) =>
        x.raw(
          200,
          JSON_TYPE,
          `[${replyTo(x, 'ok')},${JSON.stringify({ jsonrpc: '2.0', id: x.id, error: { code: 1, message: 'late' } })}]`,
        ),
    ],
    ['from JSON that drips', (x) => [...replyTo(x, 'ok')].reduce((s, c) => s.write(c), x.stream(200, JSON_TYPE)).end()],
    [
      'after 102 and 103',
      (x) => (
        x.res.writeProcessing(),
        x.res.writeEarlyHints({ link: '</a>; rel=preload' }),
        x.raw(200, JSON_TYPE, replyTo(x, 'ok'))
      ),
    ],
    [
      'with a status text that is no text',
      (x) => x.res.writeHead(200, '\u00e9\u00ff', JSON_TYPE).end(replyTo(x, 'ok')),
    ],
    [
      'from a stream with such a status text',
      (x) =>
        x.res.writeHead(200, '\u00ff', { 'content-type': 'text/event-stream' }).end(`data: ${replyTo(x, 'ok')}\n\n`),
    ],
  ])('%s', async (_what, answer) => {
    const server = await serverThat(answer);
    expect(await callOnce(server.connection)).toMatchObject({ status: 'success', content: 'ok' });
    await server.waitForNoRequests();
  });

  it.each([600, 999, 304])('and an error of status %i is one', async (status) => {
    const server = await serverThat((exchange) => exchange.raw(status, {}, 'odd'));
    const { error } = await callOnce(server.connection);
    expect(String(error)).toContain(`ProviderError: Toolset Tested, tool "a": the server answered HTTP ${status}`);
  });

  it.each([400, 500, 999])('and status %i for a notification is an error of connecting', async (status) => {
    const server = await startRawHttp();
    server.script.on = { 'notifications/initialized': (exchange) => void exchange.stream(status).write('odd') };
    const failure = await rejectionOf(connected(server.connection));
    expect(String(failure)).toContain(`the server answered HTTP ${status} (odd)`);
    await server.waitForNoRequests();
  });

  it('with a session id that changes, of which the latest counts', async () => {
    const long = 'x'.repeat(4_000);
    const server = await serverThat((exchange) => {
      if (server.calls.length === 1) exchange.openSession(long);
      return exchange.polite();
    });
    await using session = await connected(server.connection);
    for (let call = 0; call < 2; call += 1) expect(await session.call()).toMatchObject({ status: 'success' });
    expect(server.requests.at(-1)?.sessionId).toBe(long);
  });
});
