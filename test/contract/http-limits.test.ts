import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { ProtocolError, ProviderError, type ConnectionOptions, type ToolExecution } from 'mcp-toolset';
import { closeServersAfterEach, startRawHttp, text, tool, type HttpExchange, type RawHttpServer } from '../servers';
import { callOnce, connected, failureOf, rejectionOf, serverThat } from './connected';

closeServersAfterEach();

const LIMIT = 2_000;
const JSON_TYPE = { 'content-type': 'application/json' };

/** The reply to a request, `length` bytes long. */
function replyOf({ id }: HttpExchange, length: number): string {
  const reply = (content: string): string => JSON.stringify({ jsonrpc: '2.0', id, result: text(content) });
  return reply('x'.repeat(length - reply('').length));
}

function limited(server: RawHttpServer): ConnectionOptions {
  return { ...server.connection, maxResponseBytes: LIMIT };
}

function expectBreach(execution: ToolExecution, what: string): void {
  const failure = failureOf(execution);
  expect(failure).toBeInstanceOf(ProtocolError);
  expect(failure).toMatchObject({ outcome: 'unknown', toolset: 'Tested' });
  expect(failure.message).toContain(`${what} of more than ${LIMIT} bytes (limit maxResponseBytes)`);
  expect(execution.content).toMatch(/^Tool failed \(ProtocolError\)\. It is not known whether/);
}

/** A batch of `size` messages, of which the last is the reply. */
function batchOf({ id }: HttpExchange, size: number): string {
  const notifications = Array<string>(size - 1).fill('{"jsonrpc":"2.0","method":"notifications/x"}');
  return `[${[...notifications, JSON.stringify({ jsonrpc: '2.0', id, result: text('ok') })].join()}]`;
}

describe('R38: a body holds no more than 1,000 messages', () => {
  it('of which each is looked at for long: more are refused', async () => {
    const server = await serverThat((exchange) => exchange.raw(200, JSON_TYPE, batchOf(exchange, 1_001)));
    const failure = failureOf(await callOnce(server.connection));
    expect(failure).toBeInstanceOf(ProtocolError);
    expect(failure).toMatchObject({ outcome: 'unknown', toolset: 'Tested' });
    expect(failure.message).toContain(
      'Toolset Tested, tool "a": the server sent a batch of 1001 messages in reply to one',
    );
  });

  it('and at that limit its reply is found', async () => {
    const server = await serverThat((exchange) => exchange.raw(200, JSON_TYPE, batchOf(exchange, 1_000)));
    expect(await callOnce(server.connection)).toMatchObject({ content: 'ok' });
  });
});

describe('R38: maxResponseBytes bounds a body', () => {
  it('that says its length', async () => {
    const server = await serverThat((exchange) => exchange.raw(200, JSON_TYPE, replyOf(exchange, LIMIT + 1)));
    expectBreach(await callOnce(limited(server)), 'a body');
  });

  it('that says no length', async () => {
    const server = await serverThat((exchange) =>
      exchange
        .stream(200, JSON_TYPE)
        .write(replyOf(exchange, LIMIT + 1))
        .end(),
    );
    expectBreach(await callOnce(limited(server)), 'a body');
  });

  it('that never ends, and hangs up', async () => {
    const server = await serverThat(async (exchange) => {
      const stream = exchange.stream(200, JSON_TYPE);
      for (; !stream.closed; await stream.drained()) stream.write(' '.repeat(500));
    });
    expectBreach(await callOnce(limited(server)), 'a body');
    await server.waitForNoRequests();
  });

  it('and lets one of exactly the limit pass, with a length and without', async () => {
    const server = await serverThat((exchange) => exchange.raw(200, JSON_TYPE, replyOf(exchange, LIMIT)));
    expect(await callOnce(limited(server))).toMatchObject({ status: 'success' });
    server.script.on = {
      'tools/call': (exchange) => exchange.stream(200, JSON_TYPE).write(replyOf(exchange, LIMIT)).end(),
    };
    expect(await callOnce(limited(server))).toMatchObject({ status: 'success' });
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('as it is after decoding: %s', async (encoding, compress) => {
    const server = await serverThat((exchange) => {
      const body = compress(replyOf(exchange, 1_000_000));
      expect(body.length).toBeLessThan(LIMIT);
      exchange.raw(200, { ...JSON_TYPE, 'content-encoding': encoding }, body);
    });
    expectBreach(await callOnce(limited(server)), 'a body');
  });

  it('and reads a compressed one within it', async () => {
    const server = await serverThat((exchange) =>
      exchange.raw(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }, gzipSync(replyOf(exchange, LIMIT))),
    );
    expect(await callOnce(limited(server))).toMatchObject({ status: 'success' });
  });

  it('at 10 MiB by default', async () => {
    const tenMiB = 10 * 1024 * 1024;
    const server = await serverThat((exchange) => exchange.raw(200, JSON_TYPE, replyOf(exchange, tenMiB)));
    expect(await callOnce(server.connection)).toMatchObject({ status: 'success' });
    server.script.on = { 'tools/call': (exchange) => exchange.raw(200, JSON_TYPE, replyOf(exchange, tenMiB + 1)) };
    expect(failureOf(await callOnce(server.connection)).message).toContain(`${tenMiB} bytes (limit maxResponseBytes)`);
  });

  it('also while connecting and discovering, where `optional` can excuse it', async () => {
    const server = await startRawHttp({ tools: [tool('a', { description: 'x'.repeat(LIMIT) })] });
    const failure = await rejectionOf(connected(limited(server)));
    expect(failure).toBeInstanceOf(ProtocolError);
    expect(String(failure)).toContain('tools/list: the server sent a body of more than');
    await using session = await connected(limited(server), { optional: true });
    expect(session.tools.names).toEqual([]);
    await server.waitForNoRequests();
  });

  it('but an error is told by its status, however long its page is', async () => {
    const server = await serverThat((exchange) =>
      exchange.raw(503, { 'content-type': 'text/html' }, `<h1>Down</h1>${'x'.repeat(100 * LIMIT)}`),
    );
    const failure = failureOf(await callOnce(limited(server)));
    expect(failure).toBeInstanceOf(ProviderError);
    expect(failure.outcome).toBe('unknown');
    expect(failure.message).toContain('HTTP 503 (<h1>Down</h1>xxx');
    expect(failure.message.length).toBeLessThan(400);
  });

  it('and an error whose page never ends is told at once', async () => {
    const server = await serverThat((exchange) => {
      exchange.stream(500, { 'content-type': 'text/plain' }).write('it broke');
    });
    expect(failureOf(await callOnce(limited(server))).message).toContain('HTTP 500 (it broke)');
    await server.waitForNoRequests();
  });

  it('is a whole number of at least 1', async () => {
    for (const maxResponseBytes of [0, -1, 1.5, NaN]) {
      const failure = await rejectionOf(connected({ url: 'https://mcp.example/', maxResponseBytes }));
      expect(String(failure)).toMatch(/ConfigurationError: .*"maxResponseBytes": expected a whole number/);
    }
  });
});

describe('R38: maxResponseBytes bounds each event of an event stream', () => {
  it('and not the stream', async () => {
    const server = await serverThat(async (exchange) => {
      const stream = exchange.sse();
      for (let event = 0; event < 20; event += 1) {
        stream.notify('notifications/message', { level: 'info', data: 'x'.repeat(LIMIT / 2) });
        await stream.drained();
      }
      stream.reply(text('after 20,000 bytes')).end();
    });
    expect(await callOnce(limited(server))).toMatchObject({ status: 'success', content: 'after 20,000 bytes' });
  });

  it('and not the comments between events', async () => {
    const server = await serverThat((exchange) =>
      exchange.sse().write(': still here\n\n'.repeat(LIMIT)).reply(text('ok')).end(),
    );
    expect(await callOnce(limited(server))).toMatchObject({ content: 'ok' });
  });

  it('that is too long', async () => {
    const server = await serverThat((exchange) =>
      exchange
        .sse()
        .reply(text('x'.repeat(LIMIT)))
        .end(),
    );
    expectBreach(await callOnce(limited(server)), 'an event');
  });

  it.each([
    ['one line', 'x'],
    ['many lines', 'data: x\n'],
    ['many CRLF lines', 'data: x\r\n'],
    ['comment lines', ': x\n'],
  ])('that never ends, and hangs up: %s', async (_what, piece) => {
    const server = await serverThat(async (exchange) => {
      const stream = exchange.sse().write('data: ');
      for (; !stream.closed; await stream.drained()) stream.write(piece);
    });
    expectBreach(await callOnce(limited(server)), 'an event');
    await server.waitForNoRequests();
  });

  it('with the session still in use afterwards', async () => {
    const server = await serverThat((exchange) => exchange.sse().reply(text('x'.repeat(LIMIT))));
    await using session = await connected(limited(server));
    expectBreach(await session.call(), 'an event');
    server.script.on = {};
    expect(await session.call({ q: 1 })).toMatchObject({ content: '{"q":1}' });
    expect(server.sessions).toHaveLength(1);
  });
});
