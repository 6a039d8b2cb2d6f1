import { ProtocolError, ProviderError, type McpToolsetError } from 'mcp-toolset';
import { closeServersAfterEach, startRawHttp, text, tool, type HttpExchange, type RawHttpServer } from '../servers';
import { callOnce, connected, failureOf, inPieces, rejectionOf, serverThat } from './connected';

closeServersAfterEach();

const JSON_TYPE = { 'content-type': 'application/json' };

/** A server whose calls are answered by a stream that ends after one event, and its resumptions by `resume`. */
async function interrupted(resume: (exchange: HttpExchange, call: HttpExchange) => unknown): Promise<RawHttpServer> {
  const server = await serverThat((exchange) => exchange.sse().event('', { id: 'one', retry: 1 }).end());
  const lastCall = (): HttpExchange => server.requests.filter(({ method }) => method === 'tools/call').at(-1)!;
  server.script.on = { ...server.script.on, GET: (exchange) => resume(exchange, lastCall()) };
  return server;
}

function replyTo({ id }: HttpExchange, content = 'late'): unknown {
  return { jsonrpc: '2.0', id, result: text(content) };
}

function resumptions({ requests }: RawHttpServer): HttpExchange[] {
  return requests.filter(({ method }) => method === 'GET');
}

/** Makes a call that fails, proves that it went out once and that nothing stays open, and returns its error. */
async function lostCall(server: RawHttpServer): Promise<McpToolsetError> {
  const execution = await callOnce(server.connection);
  const failure = failureOf(execution);
  expect(failure.outcome).toBe('unknown');
  expect(execution.content).toContain('It is not known whether the server carried the call out');
  expect(server.calls).toHaveLength(1);
  await server.waitForNoRequests();
  return failure;
}

describe('R42: an answer that holds no reply is a ProtocolError at once', () => {
  it.each<[string, (exchange: HttpExchange) => unknown, string]>([
    ['202 Accepted', (x) => x.accept(), 'it is HTTP 202, where a reply was due'],
    [
      '202 with an event stream',
      (x) => x.raw(202, { 'content-type': 'text/event-stream' }, ': ok\n\n'),
      'it is HTTP 202',
    ],
    ['204', (x) => x.res.writeHead(204, { 'content-type': 'text/event-stream' }).end(), 'it is HTTP 204'],
    ['205', (x) => x.res.writeHead(205, JSON_TYPE).end(), 'it is HTTP 205'],
    [
      'HTML',
      (x) => x.raw(200, { 'content-type': 'text/html' }, '<p>Log\n in</p>'),
      'text/html, not JSON or an event stream: <p>Log in</p>',
    ],
    ['HTML that never ends', (x) => x.stream(200, { 'content-type': 'text/html' }).write('<p>wait'), ': <p>wait'],
    ['an unknown type that says nothing', (x) => void x.stream(200, {}), 'without a content type'],
    ['empty', (x) => x.raw(200), 'without a content type'],
    ['empty JSON', (x) => x.raw(200, JSON_TYPE), 'no message of the protocol'],
    ['broken JSON', (x) => x.raw(200, JSON_TYPE, '{"jsonrpc":"2.0","id":'), 'no message of the protocol'],
    ['JSON that is no JSON-RPC', (x) => x.raw(200, JSON_TYPE, '{"ok":true}'), 'no message of the protocol'],
    ['JSON null', (x) => x.raw(200, JSON_TYPE, 'null'), 'no message of the protocol'],
    ['an empty batch', (x) => x.raw(200, JSON_TYPE, '[]'), 'holds no reply to the request'],
    [
      'a notification',
      (x) => x.raw(200, JSON_TYPE, '{"jsonrpc":"2.0","method":"notifications/message"}'),
      'holds no reply',
    ],
    [
      'an event stream of a result that is no object',
      (x) =>
        x
          .sse()
          .write(`data: {"jsonrpc":"2.0","id":${String(x.id)},"result":[]}\n\n`)
          .end(),
      'no message of the protocol',
    ],
    ['an event stream of no JSON', (x) => x.sse().write('data: ok\n\n').end(), 'no message of the protocol'],
    ['a reply to another id', (x) => x.raw(200, JSON_TYPE, '{"jsonrpc":"2.0","id":999,"result":{}}'), 'holds no reply'],
    [
      'an error without an id',
      (x) => x.raw(200, JSON_TYPE, '{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}'),
      'holds no reply',
    ],
  ])('%s', async (_what, answer, said) => {
    const failure = await lostCall(await serverThat(answer));
    expect(failure).toBeInstanceOf(ProtocolError);
    expect(failure.message).toContain(`tool "a": the server's answer cannot be read: `);
    expect(failure.message).toContain(said);
  });

  it('whatever words of the SDK it repeats: an optional server cannot make itself a mistake of the application', async () => {
    const server = await startRawHttp({ on: { initialize: (x) => x.raw(200, JSON_TYPE, 'already started!') } });
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    await using session = await connected(server.connection, { optional: true });
    expect(session.tools.names).toEqual([]);
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  it('also while connecting and listing', async () => {
    for (const method of ['initialize', 'tools/list']) {
      const server = await startRawHttp({ on: { [method]: (exchange) => exchange.accept() } });
      const failure = await rejectionOf(connected(server.connection));
      expect(failure).toBeInstanceOf(ProtocolError);
      expect(String(failure)).toContain(`${method}: the server's answer cannot be read`);
      await server.waitForNoRequests();
    }
  });
});

describe('R42: a connection that ends before the reply is a ProviderError at once', () => {
  it.each<[string, (exchange: HttpExchange) => unknown]>([
    ['reset before an answer', (x) => x.destroy()],
    ['ended before an answer', (x) => x.req.socket.end()],
    ['reset in the middle of JSON', (x) => x.stream(200, JSON_TYPE).write('{"json').destroy()],
    [
      'ended before the length that was announced',
      (x) => x.res.writeHead(200, { ...JSON_TYPE, 'content-length': 99 }).write('{', () => x.req.socket.end()),
    ],
    ['an event stream that ends', (x) => x.sse().progress(1).end()],
    ['an event stream without an event', (x) => x.sse().end()],
    ['an event stream that is reset', (x) => x.sse().progress(1).destroy()],
    ['an event stream that ends in the middle of the reply', (x) => x.sse().write('data: {"jsonrpc"').end()],
    [
      'an event stream that ends before the end of the event',
      (x) =>
        x
          .sse()
          .write(`data: ${JSON.stringify(replyTo(x))}`)
          .end(),
    ],
    ['an event stream with other replies only', (x) => x.sse().event({ jsonrpc: '2.0', id: 999, result: {} }).end()],
    ['an event stream whose id is empty', (x) => x.sse().event('', { id: '' }).end()],
    ['an event stream whose id belongs to an event that was not completed', (x) => x.sse().write('id: one\n').end()],
    ['headers without end', (x) => void x.req.socket.write(`HTTP/1.1 200 OK\r\n${'x-flood: 1\r\n'.repeat(5_000)}`)],
    ['no HTTP', (x) => x.req.socket.end('SSH-2.0-OpenSSH_9.6\r\n')],
  ])('%s', async (_what, answer) => {
    const server = await serverThat(answer);
    const failure = await lostCall(server);
    expect(failure).toBeInstanceOf(ProviderError);
    expect(failure.message).toMatch(/^Toolset Tested, tool "a": /);
    expect(resumptions(server)).toEqual([]);
  });

  it('HTTP 5xx as well, and 4xx is a refusal', async () => {
    const server = await serverThat((exchange) => exchange.raw(502, {}, 'Bad Gateway'));
    expect(await lostCall(server)).toBeInstanceOf(ProviderError);
    server.script.on = { 'tools/call': (exchange) => exchange.raw(429, {}, 'slow down') };
    const refused = failureOf(await callOnce(server.connection));
    expect(refused).toMatchObject({ name: 'ProviderError', outcome: 'refused' });
    const error = { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no such thing' } };
    server.script.on = { 'tools/call': (exchange) => exchange.raw(400, JSON_TYPE, JSON.stringify(error)) };
    expect(failureOf(await callOnce(server.connection)).message).toContain('HTTP 400 (no such thing)');
  });

  it('and a server that is not there was not sent anything', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    await using session = await connected(server.connection);
    await server.stop();
    const execution = await session.call();
    expect(failureOf(execution)).toMatchObject({ name: 'ProviderError', outcome: 'not-sent' });
    expect(execution.content).toContain('The call was not sent.');
  });
});

describe('R42: an event stream with ids is resumed', () => {
  it.each<[string, (exchange: HttpExchange) => unknown]>([
    ['ended', (x) => x.sse().event('', { id: 'one', retry: 1 }).end()],
    ['was reset', (x) => x.sse().event('', { id: 'one', retry: 1 }).destroy()],
    [
      'ended in the middle of an event',
      (x) => x.sse().event('', { id: 'one', retry: 1 }).write('id: two\ndata: {"js').end(),
    ],
    ['has CRLF', (x) => x.sse().write('retry: 1\r\nid: one\r\ndata:\r\n\r\n').end()],
    ['had an id without data', (x) => x.sse().write('id: zero\n\nid:one\nretry:1\n\n').end()],
  ])('when it %s, after the last complete event, and the call goes out once', async (_what, answer) => {
    const server = await interrupted((exchange, call) => exchange.sse().event(replyTo(call), { id: 'two' }).end());
    server.script.on = { ...server.script.on, 'tools/call': answer };
    expect(await callOnce({ ...server.connection, headers: { 'x-tenant': 't' } })).toMatchObject({ content: 'late' });
    expect(server.calls).toHaveLength(1);
    const [resumption, ...more] = resumptions(server);
    expect(more).toEqual([]);
    expect(resumption?.headers).toMatchObject({
      accept: 'text/event-stream',
      'last-event-id': 'one',
      'mcp-session-id': server.deleted[0],
      'x-tenant': 't',
    });
    expect(resumption?.headers).not.toHaveProperty('content-type');
    expect(resumption?.headers['mcp-protocol-version']).toBeDefined();
  });

  it('also where the resumed stream begins with a byte order mark', async () => {
    const server = await interrupted((exchange, call) => exchange.sse().write('\u{feff}').event(replyTo(call)).end());
    expect(await callOnce(server.connection)).toMatchObject({ content: 'late' });
    expect(await callOnce({ ...server.connection, fetch: inPieces(1) })).toMatchObject({ content: 'late' });
    expect(resumptions(server)).toHaveLength(2);
  });

  it('also when its ids come in pieces of one byte', async () => {
    const server = await interrupted((exchange, call) => exchange.sse().event(replyTo(call)).end());
    expect(await callOnce({ ...server.connection, fetch: inPieces(1) })).toMatchObject({ content: 'late' });
    expect(resumptions(server)[0]?.headers['last-event-id']).toBe('one');
  });

  it('as often as the server ends it, each time after the latest event', async () => {
    const server = await interrupted((exchange, call) => {
      const next = resumptions(server).length;
      const stream = exchange.sse();
      if (next < 4) stream.event('', { id: `event-${next}` }).end();
      else stream.event(replyTo(call)).end();
    });
    expect(await callOnce(server.connection)).toMatchObject({ content: 'late' });
    const after = resumptions(server).map(({ headers }) => headers['last-event-id']);
    expect(after).toEqual(['one', 'event-1', 'event-2', 'event-3']);
    expect(server.calls).toHaveLength(1);
  });

  it('and an event that broke off before its end is told once', async () => {
    const asked = (id: string): object => ({ jsonrpc: '2.0', id, method: 'ping' });
    const server = await interrupted((exchange, call) => exchange.sse().event(asked('two')).event(replyTo(call)).end());
    server.script.on = {
      ...server.script.on,
      'tools/call': (exchange) =>
        exchange
          .sse()
          .event('', { id: 'one', retry: 1 })
          .write(`id: two\ndata: ${JSON.stringify(asked('two'))}\n`)
          .end(),
    };
    await using session = await connected(server.connection);
    expect(await session.call()).toMatchObject({ content: 'late' });
    await server.waitFor('response');
    server.script.on = {};
    await session.call(); // what the client has answered before has come
    expect(server.requests.filter(({ method }) => method === 'response')).toHaveLength(1);
  });

  it('but ever more slowly, however soon the server wants it', async () => {
    const server = await serverThat((exchange) => exchange.sse().event('', { id: 'one', retry: 0 }).end());
    server.script.on = { ...server.script.on, GET: (exchange) => exchange.sse().end() };
    const clock = await serverThat((exchange) => exchange.sse().event('', { id: 'one' }).end());
    clock.script.on = { ...clock.script.on, GET: (exchange) => exchange.hang() };
    await using session = await connected(server.connection);
    await using second = await connected(clock.connection);
    const calls = Promise.allSettled([session.call(), second.call()]);
    await clock.waitFor('GET'); // after a second, in which fifty waits of 20 ms would find room
    expect(resumptions(server).length).toBeLessThan(10);
    await Promise.all([session.run.close(), second.run.close()]);
    await calls;
  });

  it.each([
    ['has letters of any script', 'é☃', Buffer.from('é☃').toString('latin1')],
    ['has a NUL, which makes it none', 'a\0b', 'one'],
  ])('also when an id %s', async (_what, id, sent) => {
    const server = await interrupted((exchange, call) => exchange.sse().event(replyTo(call)).end());
    server.script.on = {
      ...server.script.on,
      'tools/call': (exchange) => exchange.sse().event('', { id: 'one', retry: 1 }).event('', { id }).end(),
    };
    expect(await callOnce(server.connection)).toMatchObject({ content: 'late' });
    expect(resumptions(server)[0]?.headers['last-event-id']).toBe(sent);
  });

  it('also when one resumption has no body, and says of what type that would be', async () => {
    const server = await interrupted((exchange, call) => {
      if (resumptions(server).length > 1) return exchange.sse().event(replyTo(call)).end();
      return exchange.res.writeHead(204, { 'content-type': 'text/event-stream' }).end();
    });
    expect(await callOnce(server.connection)).toMatchObject({ content: 'late' });
    expect(resumptions(server)).toHaveLength(2);
  });

  it('while connecting, with the id of the session that has just begun', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    let initialize: HttpExchange | undefined;
    server.script.on = {
      initialize: (exchange) => {
        initialize = exchange;
        exchange.openSession();
        exchange.sse().event('', { id: 'one', retry: 1 }).end();
      },
      GET: (exchange) => {
        const { protocolVersion } = initialize?.params ?? {};
        const result = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'raw', version: '1' } };
        exchange.sse().event({ jsonrpc: '2.0', id: initialize?.id, result }).end();
      },
    };
    expect(await callOnce(server.connection)).toMatchObject({ status: 'success' });
    expect(resumptions(server)[0]?.sessionId).toBe(server.deleted[0]);
  });

  it('and an error that it brings is the reply, after which it is not resumed', async () => {
    const server = await interrupted((exchange) => exchange.raw(405));
    server.script.on = {
      ...server.script.on,
      'tools/call': (exchange) =>
        exchange
          .sse()
          .event('', { id: 'one', retry: 1 })
          .event({ jsonrpc: '2.0', id: exchange.id, error: { code: 1, message: 'no' } }, { id: 'two' })
          .end(),
    };
    expect(await callOnce(server.connection)).toMatchObject({ status: 'error', content: 'no' });
    expect(resumptions(server)).toEqual([]);
  });

  it.each<[string, number, (exchange: HttpExchange) => unknown, string]>([
    ['405, which is final', 1, (x) => x.raw(405), 'HTTP 405'],
    ['an error twice', 2, (x) => x.raw(500), 'HTTP 500'],
    ['a page twice', 2, (x) => x.raw(200, { 'content-type': 'text/html' }, '<p>'), 'HTTP 200'],
    ['a reset twice', 2, (x) => x.destroy(), 'fetch failed'],
  ])('but not for ever: %s', async (_what, times, answer, reason) => {
    const server = await interrupted(answer);
    const failure = await lostCall(server);
    expect(failure).toBeInstanceOf(ProviderError);
    expect(failure.message).toContain('ended without the reply and could not be resumed');
    expect(failure.message).toContain(reason);
    expect(resumptions(server)).toHaveLength(times);
  });

  it('but not when the call was cancelled meanwhile', async () => {
    const server = await interrupted((exchange) => exchange.hang());
    await using session = await connected(server.connection);
    const stop = new AbortController();
    const call = session.call({}, { signal: stop.signal });
    const resumption = await server.waitFor('GET');
    stop.abort();
    await expect(call).rejects.toMatchObject({ name: 'CancelledError' });
    expect(await resumption.waitForClose()).toBe('aborted');
    await server.waitFor('notifications/cancelled');
    await server.waitForNoRequests();
    expect(resumptions(server)).toHaveLength(1);
  });

  it('but not when the call was cancelled while it waits to resume', async () => {
    const server = await serverThat((exchange) => exchange.sse().event('', { id: 'one', retry: 20_000 }).end());
    await using session = await connected(server.connection);
    const stop = new AbortController();
    const call = session.call({}, { signal: stop.signal });
    await (await server.waitFor('tools/call')).waitForClose();
    stop.abort();
    await expect(call).rejects.toMatchObject({ name: 'CancelledError' });
    await server.waitFor('notifications/cancelled');
    expect(resumptions(server)).toEqual([]);
  });
});
