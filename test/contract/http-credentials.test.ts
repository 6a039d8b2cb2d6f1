import type { HttpConnectionOptions } from 'mcp-toolset';
import { closeServersAfterEach, startRawHttp, tool, type HttpExchange } from '../servers';
import { inspect } from 'node:util';
import { callOnce, connected, failureOf, rejectionOf } from './connected';

closeServersAfterEach();

const SECRET = 'sesame-12345';
const headers = {
  Authorization: `Bearer ${SECRET}`,
  'x-api-key': 'key "quoted" 67890',
  Cookie: 'sid=abcdef; theme=dark',
};

/** Everything that a request carried, as a careless server prints it. */
function dump(exchange: HttpExchange): string {
  return Object.entries(exchange.headers)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join('\n');
}

function expectNoSecret(message: string): void {
  for (const secret of [SECRET, '67890', 'quoted', 'abcdef']) expect(message).not.toContain(secret);
}

describe('R38: the headers of the application', () => {
  it('reach every request', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    server.script.on = {
      'tools/call': (exchange) => exchange.sse().event('', { id: 'one', retry: 1 }).end(),
      GET: (exchange) => exchange.raw(405),
    };
    await callOnce({ ...server.connection, headers });
    expect(server.requests.map(({ method }) => method)).toEqual([
      ...['initialize', 'notifications/initialized', 'tools/list', 'tools/call', 'GET', 'DELETE'],
    ]);
    for (const { headers: received } of server.requests) {
      expect(received).toMatchObject({ authorization: headers.Authorization, 'x-api-key': headers['x-api-key'] });
      expect(received.cookie).toBe(headers.Cookie);
    }
  });

  it('do not replace those of the protocol', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    const own = {
      Accept: 'text/html',
      'Content-Type': 'text/plain',
      'MCP-Session-Id': 'of another session',
      'Mcp-Protocol-Version': '1999-01-01',
    };
    expect(await callOnce({ ...server.connection, headers: own })).toMatchObject({ status: 'success' });
    const call = await server.waitFor('tools/call');
    expect(call.headers).toMatchObject({
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-session-id': server.deleted[0],
    });
    expect(call.headers['mcp-protocol-version']).not.toBe('1999-01-01');
  });

  it.each([
    ['a line break in a value', { 'x-key': `${SECRET}\r\nx-evil: 1` }, /headers\.x-key": is not a valid HTTP header/],
    ['a value outside Latin-1', { 'x-key': `${SECRET}\u{1f511}` }, /headers\.x-key": is not a valid HTTP header/],
    ['a name with a space', { 'x key': SECRET }, /headers\.x key": is not a valid HTTP header/],
    ['a value that is no string', { 'x-key': 1 as never }, /headers\.x-key": expected a string/],
  ])('are checked early, and an error does not tell them: %s', async (_what, faulty, message) => {
    const failure = await rejectionOf(connected({ url: 'https://mcp.example/', headers: faulty }));
    expect(failure).toMatchObject({ name: 'ConfigurationError', message: expect.stringMatching(message) as string });
    expect(String(failure)).not.toContain(SECRET);
  });
});

describe('R38: an error is free of the values that the application sent as headers', () => {
  it.each([
    ['a page with status 403', (exchange: HttpExchange) => exchange.raw(403, {}, dump(exchange)), 'HTTP 403'],
    ['a page with status 500', (exchange: HttpExchange) => exchange.raw(500, {}, dump(exchange)), 'HTTP 500'],
    ['a page with status 200', (exchange: HttpExchange) => exchange.raw(200, {}, dump(exchange)), 'cannot be read'],
    ['JSON', (exchange: HttpExchange) => exchange.raw(400, {}, JSON.stringify(exchange.headers)), 'HTTP 400'],
    ['a JSON-RPC error', (exchange: HttpExchange) => exchange.error(-32000, `bad: ${dump(exchange)}`), 'bad:'],
    [
      'a JSON-RPC error with status 401',
      (exchange: HttpExchange) => exchange.raw(401, {}, JSON.stringify({ error: { message: dump(exchange) } })),
      'HTTP 401',
    ],
  ])('in %s', async (_what, answer, said) => {
    const server = await startRawHttp({ tools: [tool('a')], on: { 'tools/call': answer } });
    const execution = await callOnce({ ...server.connection, headers });
    expect(failureOf(execution).message).toContain(said);
    expectNoSecret(failureOf(execution).message);
    expectNoSecret(execution.content);
  });

  it('nor of those that its signer set', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    server.script.on = {
      'tools/call': (exchange) => exchange.raw(403, {}, `${exchange.headers.authorization} is bad`),
    };
    let count = 0;
    const signer: HttpConnectionOptions['signer'] = ({ headers: signed }) => {
      signed.set('authorization', `Signature secret-${(count += 1)}`);
    };
    const { message } = failureOf(await callOnce({ ...server.connection, signer }));
    expect(message).toContain('HTTP 403 ([redacted] is bad)');
  });

  it('also while connecting, and where a page quotes a word of one', async () => {
    const server = await startRawHttp({ on: { initialize: (exchange) => exchange.raw(401, {}, `Who is ${SECRET}?`) } });
    const failure = await rejectionOf(connected({ ...server.connection, headers }));
    expect(String(failure)).toContain('HTTP 401 (Who is [redacted]?). Check the credentials');
  });

  it.each<[string, (exchange: HttpExchange) => void | Promise<void>]>([
    [
      'the data of a JSON-RPC error',
      (exchange) => exchange.error(-32000, 'no', { headers: exchange.headers, of: ['a', 'request'] }),
    ],
    [
      'the code and data of a page that looks like one',
      (exchange) =>
        exchange.raw(403, {}, JSON.stringify({ error: { code: dump(exchange), message: 'no', data: dump(exchange) } })),
    ],
  ])('R38: nor are they in the cause, as %s', async (_what, answer) => {
    const server = await startRawHttp({ tools: [tool('a')], on: { 'tools/call': answer } });
    const failure = failureOf(await callOnce({ ...server.connection, headers }));
    expectNoSecret(inspect(failure, { depth: null, showHidden: true }));
    expect(failure.cause).toMatchObject({ message: 'no' });
    expect(JSON.stringify(failure.cause)).toContain('[redacted]');
  });

  it('R38: while data without any stays as the server sent it', async () => {
    const data = { retryAfter: 30, fields: ['a', null] };
    const server = await startRawHttp({ tools: [tool('a')] });
    server.script.on = { 'tools/call': (exchange) => exchange.error(-32000, 'no', data) };
    const failure = failureOf(await callOnce({ ...server.connection, headers }));
    expect(failure.cause).toEqual({ code: -32000, message: 'no', data });
  });

  it('R38: nor are the values of the URL’s query, which many a page repeats', async () => {
    const server = await startRawHttp({ on: { initialize: (exchange) => exchange.raw(404, {}, page(exchange)) } });
    const page = ({ req }: HttpExchange): string => `Cannot POST ${req.url}, ${decodeURIComponent(req.url ?? '')}`;
    const url = `${server.url}?api_key=sesame%2F12345&v=2`;
    const failure = await rejectionOf(connected({ ...server.connection, url }));
    expect(String(failure)).toContain(
      'HTTP 404 (Cannot POST /mcp?api_key=[redacted]&v=2, /mcp?api_key=[redacted]&v=2)',
    );
  });

  it('and holds no more than a short excerpt, of which every character can be shown', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    server.script.on = { 'tools/call': (exchange) => exchange.raw(500, {}, `\n\n${'\u{1f4a5}'.repeat(50_000)}`) };
    const { message } = failureOf(await callOnce({ ...server.connection, headers }));
    expect(message.length).toBeLessThan(300);
    expect(message).toBe(message.toWellFormed());
    expect(message).toContain('\u{1f4a5}');
  });
});

describe('R38: the `fetch` of the application', () => {
  it('makes every request, and `https:` is what it is asked for', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    const asked: string[] = [];
    const proxy: HttpConnectionOptions['fetch'] = (url, init) => {
      asked.push(`${init?.method} ${String(url)}`);
      return fetch(String(url).replace('https://mcp.example', new URL(server.url).origin), init);
    };
    const moved = (exchange: HttpExchange): void | Promise<void> =>
      exchange.path === '/mcp' ? exchange.raw(307, { location: '/moved' }) : exchange.polite();
    server.script.on = { 'tools/call': moved };
    const connection = { url: 'https://mcp.example/mcp', fetch: proxy, headers };
    expect(await callOnce(connection)).toMatchObject({ status: 'success' });
    expect(asked).toEqual([
      ...Array<string>(4).fill('POST https://mcp.example/mcp'),
      'POST https://mcp.example/moved',
      'DELETE https://mcp.example/mcp',
    ]);
    expect(server.requests.at(-1)?.headers.authorization).toBe(headers.Authorization);
  });

  it('may fail, and what it says is told without the headers', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    const failing: HttpConnectionOptions['fetch'] = async (url, init) => {
      if (typeof init?.body === 'string' && init.body.includes('tools/call'))
        throw new TypeError(`proxy refused Bearer ${SECRET}`);
      return fetch(url, init);
    };
    const failure = failureOf(await callOnce({ ...server.connection, headers, fetch: failing }));
    expect(failure).toMatchObject({ name: 'ProviderError', outcome: 'unknown' });
    expect(failure.message).toContain('proxy refused [redacted]');
    expectNoSecret(failure.message);
  });
});
