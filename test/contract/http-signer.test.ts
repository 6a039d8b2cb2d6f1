import { createHmac } from 'node:crypto';
import type { HttpConnectionOptions } from 'mcp-toolset';
import { closeServersAfterEach, startRawHttp, text, tool, type HttpExchange } from '../servers';
import { callOnce, connected, rejectionOf } from './connected';

closeServersAfterEach();

type RequestSigner = NonNullable<HttpConnectionOptions['signer']>;
type Signed = Parameters<RequestSigner>[0];

function signatureOf(method: string, path: string, body: string): string {
  return createHmac('sha256', 'key of the application').update(`${method} ${path} ${body}`).digest('hex');
}

/** Signs what the server can verify by what it has received. */
async function sign({ method, url, headers, body }: Signed): Promise<void> {
  await new Promise(setImmediate);
  headers.set('x-signature', signatureOf(method, url.pathname, body ?? ''));
}

function isSigned({ httpMethod, path, body, headers }: HttpExchange): boolean {
  return headers['x-signature'] === signatureOf(httpMethod, path, body);
}

/** A signer that throws `failure` at the first request that `at` chooses. */
function throwing(failure: unknown, at: (request: Signed) => boolean): RequestSigner {
  return (request) => {
    if (at(request)) throw failure;
  };
}

function isFor(method: string): (request: Signed) => boolean {
  return ({ body }) => body?.includes(`"method":"${method}"`) === true;
}

describe('R38: the signer is called for every request', () => {
  it('connecting, notifications, calls, cancel notices and the end of the session', async () => {
    const server = await startRawHttp({ tools: [tool('a')], on: { 'tools/call': (exchange) => exchange.hang() } });
    const session = await connected({ ...server.connection, signer: sign });
    const stop = new AbortController();
    const call = session.call({}, { signal: stop.signal });
    await server.waitFor('tools/call');
    stop.abort();
    await expect(call).rejects.toMatchObject({ name: 'CancelledError' });
    await session.run.close();
    expect(server.requests.map(({ method }) => method)).toEqual([
      ...['initialize', 'notifications/initialized', 'tools/list', 'tools/call'],
      ...['notifications/cancelled', 'DELETE'],
    ]);
    expect(server.requests.filter((exchange) => !isSigned(exchange))).toEqual([]);
  });

  it('a redirect that is followed, by its own address', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    const move = (exchange: HttpExchange): void | Promise<void> =>
      exchange.path === '/mcp' ? exchange.raw(307, { location: '/moved' }) : exchange.polite();
    server.script.on = { 'tools/call': move, DELETE: move };
    expect(await callOnce({ ...server.connection, signer: sign })).toMatchObject({ status: 'success' });
    expect(server.requests.filter(({ path }) => path === '/moved').map(({ method }) => method)).toEqual([
      'tools/call',
      'DELETE',
    ]);
    expect(server.requests.filter((exchange) => !isSigned(exchange))).toEqual([]);
  });

  it('the resumption of an event stream', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    server.script.on = {
      'tools/call': (exchange) => exchange.sse().event('', { id: 'one', retry: 1 }).end(),
      GET: (exchange) =>
        exchange
          .sse()
          .event(replyTo(server.requests, text('resumed')))
          .end(),
    };
    expect(await callOnce({ ...server.connection, signer: sign })).toMatchObject({ content: 'resumed' });
    const resumption = await server.waitFor('GET');
    expect(resumption.headers['last-event-id']).toBe('one');
    expect(isSigned(resumption)).toBe(true);
  });

  it('the request that goes out once more after the session was forgotten, and all of the new session', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    await using session = await connected({ ...server.connection, signer: sign });
    server.forgetSessions();
    expect(await session.call()).toMatchObject({ status: 'success' });
    expect(server.requests.filter(({ method }) => method === 'initialize')).toHaveLength(2);
    expect(server.requests.filter((exchange) => !isSigned(exchange))).toEqual([]);
  });

  it('with method, address, headers and body as they will go out', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    const seen: { method: string; url: string; headers: Record<string, string>; body: string | undefined }[] = [];
    const signer: RequestSigner = ({ method, url, headers, body }) => {
      expect(url).toBeInstanceOf(URL);
      seen.push({ method, url: url.href, headers: Object.fromEntries(headers), body });
      headers.delete('x-remove');
    };
    await callOnce({ ...server.connection, headers: { 'x-remove': 'before signing', 'x-tenant': 't' }, signer });
    expect(seen).toHaveLength(server.requests.length);
    for (const [index, exchange] of server.requests.entries()) {
      expect(seen[index]).toMatchObject({ method: exchange.httpMethod, url: server.url });
      expect(seen[index]?.body ?? '').toBe(exchange.body);
      expect(seen[index]?.headers).toMatchObject({ 'x-remove': 'before signing', 'x-tenant': 't' });
      expect(exchange.headers).toMatchObject({ 'x-tenant': 't' });
      expect(exchange.headers).not.toHaveProperty('x-remove');
    }
    const call = seen.find(({ body }) => body?.includes('tools/call'));
    expect(call?.headers).toMatchObject({
      'content-type': 'application/json',
      'mcp-session-id': server.requests.at(-1)?.sessionId,
    });
  });
});

describe('R38: what the signer throws is the error of the application', () => {
  const failure = new Error('the key store is locked');

  it.each(['initialize', 'notifications/initialized', 'tools/list'])(
    'at %s, also of an optional toolset',
    async (method) => {
      const server = await startRawHttp({ tools: [tool('a')] });
      const connection = { ...server.connection, signer: throwing(failure, isFor(method)) };
      expect(await rejectionOf(connected(connection))).toBe(failure);
      expect(await rejectionOf(connected(connection, { optional: true }))).toBe(failure);
      expect(server.requests.filter((exchange) => exchange.method === method)).toEqual([]);
      await server.waitForNoRequests();
    },
  );

  it.each([[failure], ['a string'], [undefined], [{ code: 401 }]])('at a call: %p', async (thrown) => {
    const server = await startRawHttp({ tools: [tool('a')] });
    await using session = await connected({
      ...server.connection,
      signer: async (request) => throwing(thrown, isFor('tools/call'))(request),
    });
    const execution = await session.call();
    expect(execution.status).toBe('error');
    expect(execution.error).toBe(thrown);
    expect(execution.content).toMatch(/^Tool failed \(\w+\)$/);
    expect(server.calls).toEqual([]);
  });

  it('at a redirect that is followed', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    server.script.on = { 'tools/call': (exchange) => exchange.raw(307, { location: '/moved' }) };
    const signer = throwing(failure, ({ url }) => url.pathname === '/moved');
    expect((await callOnce({ ...server.connection, signer })).error).toBe(failure);
  });

  it('at the resumption of an event stream, which is not tried again', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    server.script.on = {
      'tools/call': (exchange) => exchange.sse().event('', { id: 'one', retry: 1 }).end(),
    };
    let resumptions = 0;
    const signer: RequestSigner = ({ method }) => {
      if (method !== 'GET') return;
      resumptions += 1;
      throw failure;
    };
    expect((await callOnce({ ...server.connection, signer })).error).toBe(failure);
    expect(resumptions).toBe(1);
  });

  it('and the session stays in use', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    let locked = true;
    const signer = throwing(failure, (request) => locked && isFor('tools/call')(request));
    await using session = await connected({ ...server.connection, signer });
    expect((await session.call()).error).toBe(failure);
    locked = false;
    expect(await session.call()).toMatchObject({ status: 'success' });
    expect(server.sessions).toHaveLength(1);
  });
});

/** The reply to the last call that was received. */
function replyTo(requests: readonly HttpExchange[], result: unknown): unknown {
  const call = requests.filter(({ method }) => method === 'tools/call').at(-1);
  return { jsonrpc: '2.0', id: call?.id, result };
}
