import { ProtocolError, type ToolExecution } from 'mcp-toolset';
import { closeServersAfterEach, rawStdio, tool, waitForNoChildren, type HttpExchange, type RpcId } from '../servers';
import { callOnce, connected, failureOf, inPieces, serverThat } from './connected';

closeServersAfterEach();
afterEach(() => waitForNoChildren());

const MOST = 1_000;
const JSON_TYPE = { 'content-type': 'application/json' };

/** A reply whose deepest array or object is at this level; the message itself is the first. */
function nested(id: RpcId | undefined, levels: number): string {
  const deep = '{"a":'.repeat(levels - 3) + '[]' + '}'.repeat(levels - 3);
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"structuredContent":${deep}}}`;
}

/** Replies that hold more brackets than may be nested. */
const SHALLOW: readonly (readonly [string, unknown])[] = [
  ['side by side', Array.from({ length: 2 * MOST }, () => ({ a: [] }))],
  ['in a string', '[{'.repeat(MOST)],
  ['in a string, behind quotes', '\\"[{\\'.repeat(MOST)],
  ['in a long string, behind quotes that are far apart', `${'x'.repeat(70)}"${'[{'.repeat(20)}`.repeat(100)],
  ['in keys', { ['"\\[{'.repeat(MOST)]: 1 }],
];

function replyOf(id: RpcId | undefined, structuredContent: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result: { structuredContent } });
}

function expectTooDeep(execution: ToolExecution, what: string): void {
  const failure = failureOf(execution);
  expect(failure).toBeInstanceOf(ProtocolError);
  expect(failure).toMatchObject({ outcome: 'unknown', toolset: 'Tested' });
  expect(failure.message).toContain(`Toolset Tested, tool "a": the server sent ${what} that is nested more than 1000`);
  expect(failure.message).toMatch(/ levels deep, .*: have the server send /);
}

describe('R38: a body that is nested too deep is not parsed', () => {
  it.each([
    ['with a length', (exchange: HttpExchange) => exchange.raw(200, JSON_TYPE, nested(exchange.id, MOST + 1))],
    [
      'without one',
      (exchange: HttpExchange) =>
        exchange
          .stream(200, JSON_TYPE)
          .write(nested(exchange.id, MOST + 1))
          .end(),
    ],
    [
      'behind a long string',
      (exchange: HttpExchange) => exchange.raw(200, JSON_TYPE, `{"${'x'.repeat(100)}\\\\":1,"a":[${'['.repeat(MOST)}`),
    ],
    ['that breaks off', (exchange: HttpExchange) => exchange.raw(200, JSON_TYPE, '['.repeat(5_000_000))],
    ['that never ends', (exchange: HttpExchange) => void exchange.stream(200, JSON_TYPE).write('["[",'.repeat(5_000))],
  ])('%s', async (_what, answer) => {
    const server = await serverThat(answer);
    expectTooDeep(await callOnce(server.connection), 'a body');
    await server.waitForNoRequests();
  });

  it('in pieces, by a fetch of the application', async () => {
    const server = await serverThat((exchange) => exchange.raw(200, JSON_TYPE, nested(exchange.id, MOST + 1)));
    expectTooDeep(await callOnce({ ...server.connection, fetch: inPieces(1) }), 'a body');
  });

  it('but at the limit it is, and the session goes on', async () => {
    const server = await serverThat((exchange) => exchange.raw(200, JSON_TYPE, nested(exchange.id, MOST + 1)));
    await using session = await connected(server.connection);
    expectTooDeep(await session.call(), 'a body');
    server.script.on = { 'tools/call': (exchange) => exchange.raw(200, JSON_TYPE, nested(exchange.id, MOST)) };
    expect(await session.call()).toMatchObject({ status: 'success' });
  });

  it.each(SHALLOW)('and brackets do no harm that are %s', async (_what, value) => {
    const server = await serverThat((exchange) => exchange.raw(200, JSON_TYPE, replyOf(exchange.id, value)));
    expect(await callOnce(server.connection)).toMatchObject({ status: 'success', value });
    expect(await callOnce({ ...server.connection, fetch: inPieces(1) })).toMatchObject({ status: 'success', value });
  });
});

describe('R38: an event that is nested too deep is not parsed', () => {
  const HALF = MOST / 2;

  it.each<[string, (id: RpcId | undefined) => string]>([
    ['in one line', (id) => `data: ${nested(id, MOST + 1)}\n\n`],
    ['in many lines', (id) => `data: ${nested(id, MOST + 1).replaceAll('{"a":', '{"a":\ndata:')}\n\n`],
    ['in many CRLF lines', (id) => `data: ${nested(id, MOST + 1).replaceAll('{"a":', '{"a":\r\ndata:')}\r\n\r\n`],
    ['in many CR lines', (id) => `data: ${nested(id, MOST + 1).replaceAll('{"a":', '{"a":\rdata:')}\r\r`],
    ['behind a quote in another line', (id) => `: "\nid: "\ndata: ${nested(id, MOST + 1)}\n\n`],
    ['behind a line that ends with CR', (id) => `: "\rdata: ${nested(id, MOST + 1)}\n\n`],
    ['behind a mark of the byte order', (id) => `\ufeffdata: ${nested(id, MOST + 1)}\n\n`],
    ['behind one that was taken for text', (id) => `\u00ef\u00bb\u00bfdata: ${nested(id, MOST + 1)}\n\n`],
    [
      'and seems not to be for what nobody reads',
      () => `\n${`data: ${'['.repeat(HALF)}\n: ${']'.repeat(HALF)}\n`.repeat(3)}`,
    ],
    [
      'and seems not to be for lines like data',
      () => `\n${`data:${'['.repeat(HALF)}\ndata${']'.repeat(HALF)}\n`.repeat(3)}`,
    ],
    ['without end', () => `data: ${'{"[":['.repeat(MOST)}`],
  ])('%s', async (_what, answer) => {
    const server = await serverThat((exchange) => void exchange.sse().write(answer(exchange.id)));
    expectTooDeep(await callOnce(server.connection), 'an event');
    await server.waitForNoRequests();
    const pieces = await callOnce({ ...server.connection, fetch: inPieces(1) });
    expectTooDeep(pieces, 'an event');
  });

  it('but at the limit it is, and each event begins anew', async () => {
    const server = await serverThat((exchange) => {
      const stream = exchange.sse();
      for (let event = 0; event < 3; event += 1) stream.event('['.repeat(HALF)).write(`data: {"\r\n\r\n`);
      stream.event(nested(exchange.id, MOST)).end();
    });
    expect(await callOnce(server.connection)).toMatchObject({ status: 'success' });
    expect(await callOnce({ ...server.connection, fetch: inPieces(1) })).toMatchObject({ status: 'success' });
  });

  it('and an event that broke off counts no more when the stream goes on', async () => {
    const server = await serverThat(async (exchange) => {
      const stream = exchange.sse().event('', { id: 'e-1', retry: 20 });
      await stream.write(`data: ${'['.repeat(HALF + 1)}`).destroy();
    });
    const reply = async (exchange: HttpExchange): Promise<void> => {
      const { id } = await server.waitFor('tools/call');
      exchange.sse().event(nested(id, HALF)).end();
    };
    server.script.on = { ...server.script.on, GET: reply };
    expect(await callOnce(server.connection)).toMatchObject({ status: 'success' });
  });

  it.each(SHALLOW)('and brackets do no harm that are %s', async (_what, value) => {
    const server = await serverThat((exchange) => exchange.sse().event(replyOf(exchange.id, value)).end());
    expect(await callOnce(server.connection)).toMatchObject({ status: 'success', value });
    expect(await callOnce({ ...server.connection, fetch: inPieces(1) })).toMatchObject({ status: 'success', value });
  });

  it('and brackets do no harm that are in lines without data', async () => {
    const server = await serverThat((exchange) =>
      exchange
        .sse()
        .write(`\n: ${'['.repeat(2 * MOST)}\nother: ${'{'.repeat(2 * MOST)}\n`)
        .event(replyOf(exchange.id, 'ok'))
        .end(),
    );
    expect(await callOnce(server.connection)).toMatchObject({ content: 'ok' });
  });
});

describe('R39: a message that is nested too deep is not parsed', () => {
  const answering = (answer: (id: RpcId | undefined) => readonly string[]) =>
    rawStdio({
      tools: [tool('a')],
      data: { pieces: answer('ID') },
      call: (_params, { id, write, data }) => {
        for (const piece of data.pieces) write(piece.replace('"ID"', JSON.stringify(id)));
      },
    });

  it.each<[string, (id: RpcId | undefined) => readonly string[]]>([
    ['in one piece', (id) => [`${nested(id, MOST + 1)}\n`]],
    ['in many pieces', (id) => nested(id, MOST + 1).split(/(?=\{"a")/)],
    ['without end', () => ['{"[":['.repeat(MOST)]],
  ])('%s: the session is closed', async (_what, answer) => {
    const server = await answering(answer);
    await using session = await connected(server.connection);
    expectTooDeep(await session.call(), 'a message');
    const later = failureOf(await session.call());
    expect(later).toMatchObject({ name: 'ProviderError', outcome: 'not-sent' });
    expect(later.message).toContain('the session is closed: the server sent a message that is nested more than 1000');
    await server.waitForExit();
  });

  it('but at the limit it is, and each line begins anew', async () => {
    const server = await answering((id) => [`${`${'['.repeat(600)}\n`.repeat(2)}{"\n`, `${nested(id, MOST)}\n`]);
    expect(await callOnce(server.connection)).toMatchObject({ status: 'success' });
  });

  it.each(SHALLOW)('and brackets do no harm that are %s', async (_what, value) => {
    const server = await answering((id) => [`${replyOf(id, value)}\n`]);
    expect(await callOnce(server.connection)).toMatchObject({ status: 'success', value });
  });
});
