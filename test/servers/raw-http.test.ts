import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { closeServersAfterEach, servers, startRawHttp, text, tool, type ResponseStream } from './index';

closeServersAfterEach();

async function connected(url: string): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const client = new Client({ name: 'kit', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(url), { reconnectionOptions: noReconnection });
  await client.connect(transport);
  return { client, transport };
}

const noReconnection = {
  initialReconnectionDelay: 1,
  maxReconnectionDelay: 1,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 0,
};

function post(url: string, message: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
}

describe('startRawHttp', () => {
  it('is polite by default', async () => {
    const server = await startRawHttp({ tools: [tool('search')], call: ({ name }) => text(`called ${name}`) });
    const { client, transport } = await connected(server.url);

    expect((await client.listTools()).tools).toEqual([tool('search')]);
    expect(await client.callTool({ name: 'search', arguments: { q: 'x' } })).toEqual(text('called search'));
    await client.ping();
    expect(server.sessions).toEqual([transport.sessionId]);
    expect(server.calls).toMatchObject([{ name: 'search', arguments: { q: 'x' } }]);
    expect(server.notifications.map(({ method }) => method)).toEqual(['notifications/initialized']);
    await server.waitFor('GET');

    const ended = transport.sessionId;
    await transport.terminateSession();
    await client.close();
    expect(server.deleted).toEqual([ended]);
    expect(server.sessions).toEqual([]);
  });

  it('answers without a script', async () => {
    const server = await startRawHttp();
    const { client } = await connected(server.url);
    expect((await client.listTools()).tools).toEqual([]);
    expect(await client.callTool({ name: 'any', arguments: { a: 1 } })).toEqual(text('{"a":1}'));
    await expect(client.listPrompts()).rejects.toThrow();
    await client.close();
  });

  it('lists pages by a function', async () => {
    const server = await startRawHttp({
      tools: ({ cursor }) => (cursor === 'two' ? [tool('b')] : { tools: [tool('a')], nextCursor: 'two' }),
    });
    const { client } = await connected(server.url);
    const first = await client.listTools();
    const second = await client.listTools({ cursor: first.nextCursor });
    expect([...first.tools, ...second.tools].map(({ name }) => name)).toEqual(['a', 'b']);
    await client.close();
  });

  it('replies in an event stream, with progress before', async () => {
    const server = await startRawHttp({
      call: (_params, exchange) => exchange.sse().progress(1, 2).progress(2, 2).reply(text('done')).end(),
    });
    const { client } = await connected(server.url);
    const progress: number[] = [];
    const onprogress = (step: { progress: number }): number => progress.push(step.progress);
    expect(await client.callTool({ name: 'slow' }, undefined, { onprogress })).toEqual(text('done'));
    expect(progress).toEqual([1, 2]);
    await client.close();
  });

  it('resets a stream in the middle, after what was written', async () => {
    const server = await startRawHttp({
      call: (_params, exchange) => exchange.sse().progress(1).destroy(),
    });
    const { client } = await connected(server.url);
    const lost = new Promise<Error>((resolve) => (client.onerror = resolve));
    const seen = new Promise<unknown>((resolve) => {
      const call = client.callTool({ name: 'x' }, undefined, { onprogress: resolve });
      call.catch(() => undefined); // the SDK leaves it open until the client closes
    });
    expect(await seen).toMatchObject({ progress: 1 });
    expect((await lost).message).toContain('disconnected');
    expect(await (await server.waitFor('tools/call')).waitForClose()).toBe('aborted');
    await client.close();
  });

  it('answers 404 to forgotten sessions, also after a restart on the same port', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    const { client } = await connected(server.url);
    server.forgetSessions();
    await expect(client.listTools()).rejects.toMatchObject({ code: 404 });

    const again = await connected(server.url);
    const { url } = server;
    await server.restart();
    expect(server.url).toBe(url);
    expect(server.openSockets).toBe(0);
    await expect(again.client.listTools()).rejects.toMatchObject({ code: 404 });
    await server.stop();
    await expect(again.client.listTools()).rejects.toThrow('fetch failed');
    await Promise.all([client.close(), again.client.close()]);
  });

  it('refuses a missing session id once it gave one out', async () => {
    const server = await startRawHttp();
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect((await post(server.url, list)).status).toBe(200);
    await post(server.url, { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
    expect((await post(server.url, list)).status).toBe(400);
    expect((await post(server.url, list, { 'mcp-session-id': 'made-up' })).status).toBe(404);
  });

  it('lets a test wait for a request and answer it later', async () => {
    const server = await startRawHttp({ call: () => undefined });
    const { client } = await connected(server.url);
    const outcome = client.callTool({ name: 'later' });
    const exchange = await server.waitFor('tools/call');
    exchange.json(text('now'));
    expect(await outcome).toEqual(text('now'));

    const stop = new AbortController();
    const second = client.callTool({ name: 'never' }, undefined, { signal: stop.signal });
    const refused = expect(second).rejects.toThrow('enough');
    await server.waitFor('tools/call', 2);
    stop.abort(new Error('enough'));
    await refused;
    const notice = await server.waitFor(({ method }) => method === 'notifications/cancelled');
    expect(notice.params).toMatchObject({ requestId: (await server.waitFor('tools/call', 2)).id });
    await client.close();
    await server.waitForNoRequests();
    (await server.waitFor('tools/call', 2)).sse().reply(text('too late, and no fault')).end();
  });

  it('speaks at any moment on the standing stream', async () => {
    let standing: ResponseStream | undefined;
    const server = await startRawHttp({ on: { GET: (exchange) => void (standing = exchange.sse()) } });
    const { client } = await connected(server.url);
    await server.waitFor('GET');
    const heard = new Promise<unknown>((resolve) => (client.fallbackNotificationHandler = async (n) => resolve(n)));
    standing?.write(': comment\n\n').notify('notifications/odd', { a: 'b' });
    expect(await heard).toMatchObject({ method: 'notifications/odd', params: { a: 'b' } });
    await client.close();
    await server.waitForNoRequests();
  });

  it('says anything: raw bodies, redirects, errors, chunks, silence, resets', async () => {
    const server = await startRawHttp({
      sessions: false,
      on: {
        '/old': (exchange) => exchange.raw(307, { location: '/mcp' }),
        html: (exchange) => exchange.raw(502, { 'content-type': 'text/html' }, '<h1>Bad Gateway</h1>'),
        refused: (exchange) => exchange.error(-32602, 'No', { why: 'because' }),
        reset: (exchange) => exchange.destroy(),
        async endless(exchange) {
          const body = exchange.stream(200, { 'content-type': 'application/json' });
          for (; !body.closed; await body.drained()) body.write(' '.repeat(65_536));
        },
      },
    });
    const call = (method: string): Promise<Response> => post(server.url, { jsonrpc: '2.0', id: 1, method });

    const html = await call('html');
    expect([html.status, await html.text()]).toEqual([502, '<h1>Bad Gateway</h1>']);
    expect(html.headers.get('content-length')).toBe('20');
    expect(await (await call('refused')).json()).toMatchObject({ error: { code: -32602, data: { why: 'because' } } });
    await expect(call('reset')).rejects.toThrow('fetch failed');
    const moved = await post(server.url.replace('/mcp', '/old'), { jsonrpc: '2.0', id: 1, method: 'ping' });
    expect(await moved.json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    await (await call('endless')).body?.cancel();
    expect(await (await server.waitFor('endless')).waitForClose()).toBe('aborted');
    expect((await post(server.url, 'no json')).status).toBe(400);
    expect(server.requests.at(-1)).toMatchObject({ method: 'invalid', body: 'no json' });
  });

  it('leaves nothing open and tells what was waited for in vain', async () => {
    const server = await startRawHttp({ on: { ping: (exchange) => exchange.hang() } }, { keepAlive: false });
    await post(server.url, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    await server.waitForNoSockets();
    const hanging = post(server.url, { jsonrpc: '2.0', id: 1, method: 'ping' });
    const failed = expect(hanging).rejects.toThrow('fetch failed');
    await server.waitFor('ping');
    const vain = expect(server.waitFor('tools/call')).rejects.toThrow(
      '"tools/call" (1). It received: tools/list, ping',
    );
    await Promise.all([server.close(), server.close()]);
    await Promise.all([failed, vain]);
    expect([server.openSockets, server.openRequests, servers.size]).toEqual([0, 0, 0]);
  });

  it('fails a test whose handler throws', async () => {
    const server = await startRawHttp({
      on: {
        ping: () => {
          throw new Error('a typo');
        },
      },
    });
    expect((await post(server.url, { jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(500);
    await expect(servers.closeAll()).rejects.toThrow('a typo');
    expect(servers.size).toBe(0);
  });
});
