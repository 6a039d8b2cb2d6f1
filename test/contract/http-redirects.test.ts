import { ProviderError } from 'mcp-toolset';
import { closeServersAfterEach, startRawHttp, tool, type HttpExchange, type RawHttpServer } from '../servers';
import { callOnce, connected, failureOf, rejectionOf } from './connected';

closeServersAfterEach();

const SECRET = 'sesame-12345';
const headers = { authorization: `Bearer ${SECRET}`, 'x-tenant': 'tenant-99' };

/** A server whose endpoint sends every request of a method elsewhere. */
function redirecting(method: string, status: number, location: () => string): Promise<RawHttpServer> {
  const answer = (exchange: HttpExchange): void | Promise<void> =>
    exchange.path === '/mcp' ? exchange.raw(status, { location: location() }) : exchange.polite();
  return startRawHttp({ tools: [tool('a')], on: { [method]: answer } });
}

function paths(server: RawHttpServer, method: string): string[] {
  return server.requests.filter((exchange) => exchange.method === method).map(({ path }) => path);
}

describe('R38: a redirect is followed only within the same origin', () => {
  it.each([307, 308])('%i, with method, body and headers as they were', async (status) => {
    const server = await redirecting('tools/call', status, () => '/moved?to=1');
    expect(await callOnce({ ...server.connection, headers }, { q: 1 })).toMatchObject({ content: '{"q":1}' });
    const [first, second] = server.requests.filter(({ method }) => method === 'tools/call');
    expect(second).toMatchObject({ path: '/moved?to=1', httpMethod: 'POST', body: first?.body, headers });
    expect(second?.sessionId).toBe(first?.sessionId);
    expect(server.calls).toHaveLength(2); // the redirected one and the one that was carried out
  });

  it('for every request: connecting, notifications and the end of the session', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    const everything = ['initialize', 'notifications/initialized', 'tools/list', 'tools/call', 'DELETE'];
    const move = (exchange: HttpExchange): void | Promise<void> =>
      exchange.path === '/mcp' ? exchange.raw(308, { location: '/moved' }) : exchange.polite();
    server.script.on = Object.fromEntries(everything.map((method) => [method, move]));
    expect(await callOnce({ ...server.connection, headers })).toMatchObject({ status: 'success' });
    for (const method of everything) expect(paths(server, method)).toEqual(['/mcp', '/moved']);
    expect(server.requests.every((exchange) => exchange.headers.authorization === headers.authorization)).toBe(true);
    expect(server.deleted).toHaveLength(1);
  });

  it('at most five times', async () => {
    const hop = ({ path }: HttpExchange): number => Number(path.split('/').at(-1)) || 0;
    const server = await startRawHttp({ tools: [tool('a')] });
    const follow = (hops: number) => (exchange: HttpExchange) =>
      hop(exchange) < hops ? exchange.raw(307, { location: `/hop/${hop(exchange) + 1}` }) : exchange.polite();
    server.script.on = { 'tools/call': follow(5) };
    expect(await callOnce(server.connection)).toMatchObject({ status: 'success' });
    server.script.on = { 'tools/call': follow(6) };
    const failure = failureOf(await callOnce(server.connection));
    expect(failure).toBeInstanceOf(ProviderError);
    expect(failure.message).toContain('HTTP 307 (more than 5 redirects are not followed)');
    expect(paths(server, 'tools/call')).toHaveLength(12);
  });

  it.each([301, 302, 303])('not by %i, which would turn a POST into a GET', async (status) => {
    const server = await redirecting('tools/call', status, () => '/moved');
    const failure = failureOf(await callOnce(server.connection));
    expect(failure).toBeInstanceOf(ProviderError);
    expect(failure.message).toContain(`HTTP ${status} (a redirect ${status}, which would turn the request into a GET`);
    expect(paths(server, 'tools/call')).toEqual(['/mcp']);
    expect(paths(server, 'GET')).toEqual([]);
  });

  it.each([301, 302, 303, 307, 308])('not to another origin, which sees nothing: %i', async (status) => {
    const elsewhere = await startRawHttp();
    const server = await redirecting('tools/call', status, () => `${elsewhere.url}?key=${SECRET}`);
    const failure = failureOf(await callOnce({ ...server.connection, headers }));
    expect(failure).toBeInstanceOf(ProviderError);
    const { origin } = new URL(elsewhere.url);
    expect(failure.message).toContain(`HTTP ${status} (a redirect to another origin, ${origin}, is not followed)`);
    expect(failure.message).not.toContain(SECRET);
    expect(elsewhere.requests).toEqual([]);
  });

  it('not to another origin while connecting', async () => {
    const elsewhere = await startRawHttp();
    const server = await redirecting('initialize', 307, () => elsewhere.url);
    const failure = await rejectionOf(connected({ ...server.connection, headers }));
    expect(failure).toBeInstanceOf(ProviderError);
    expect(String(failure)).toContain('another origin');
    expect(elsewhere.requests).toEqual([]);
  });

  it('not to another origin after a step within it', async () => {
    const elsewhere = await startRawHttp();
    const server = await startRawHttp({ tools: [tool('a')] });
    const next = ({ path }: HttpExchange): string => (path === '/mcp' ? '/b' : elsewhere.url);
    server.script.on = { 'tools/call': (exchange) => exchange.raw(307, { location: next(exchange) }) };
    expect(failureOf(await callOnce({ ...server.connection, headers })).message).toContain('another origin');
    expect(paths(server, 'tools/call')).toEqual(['/mcp', '/b']);
    expect(elsewhere.requests).toEqual([]);
  });

  it.each([
    ['https: on the same port', (url: string) => url.replace('http:', 'https:')],
    ['another name of the same machine', (url: string) => url.replace('127.0.0.1', 'localhost')],
    ['a scheme of another kind', () => 'file:///etc/passwd'],
    ['an address without a scheme', (url: string) => url.replace('http:', '').replace('127.0.0.1', '127.0.0.2')],
  ])('not to %s', async (_what, elsewhere) => {
    const server: RawHttpServer = await redirecting('tools/call', 307, () => elsewhere(server.url));
    expect(failureOf(await callOnce({ ...server.connection, headers })).message).toContain('another origin');
    expect(paths(server, 'tools/call')).toEqual(['/mcp']);
  });

  it('not where it adds credentials to the address, which the error does not tell', async () => {
    const server: RawHttpServer = await redirecting('tools/call', 307, () =>
      server.url.replace('127', 'user:pass-word@127').replace('/mcp', '/moved'),
    );
    const failure = failureOf(await callOnce(server.connection));
    expect(failure.message).toContain('a redirect that adds credentials is not followed');
    expect(failure.message).not.toContain('pass-word');
    expect(paths(server, 'tools/call')).toEqual(['/mcp']);
  });

  it.each([[{}], [{ location: 'http://[' }], [{ location: '' }]])(
    'and one that leads nowhere is an error: %j',
    async (fields) => {
      const server = await startRawHttp({ tools: [tool('a')] });
      server.script.on = { 'tools/call': (exchange) => exchange.raw(307, fields, 'gone away') };
      const failure = failureOf(await callOnce(server.connection));
      expect(failure).toBeInstanceOf(ProviderError);
      expect(failure.message).toContain('HTTP 307');
    },
  );

  it('and its outcome is unknown, as only a 4xx is a refusal', async () => {
    const server = await redirecting('tools/call', 303, () => '/moved');
    expect(failureOf(await callOnce(server.connection)).outcome).toBe('unknown');
  });
});
