import { ProviderError } from 'mcp-toolset';
import { inspect } from 'node:util';
import { closeServersAfterEach, startRawHttp, text, tool, type HttpExchange } from '../servers';
import { callOnce, connected, failureOf, rejectionOf } from './connected';
import { authorizationServer, Provider, refreshed, resourceServer } from './oauth-scene';

closeServersAfterEach();

describe('R38: authProvider', () => {
  it('gives every request its token', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    expect(await callOnce({ ...server.connection, authProvider: new Provider(server) })).toMatchObject({
      status: 'success',
    });
    for (const { headers } of server.requests) expect(headers.authorization).toBe('Bearer old-token');
  });

  it.each([undefined, 'tools/call'])('refreshes it when the server demands it, at %p', async (guarded) => {
    const authorization = await authorizationServer(refreshed);
    const server = await resourceServer(authorization, guarded);
    const provider = new Provider(authorization);
    expect(await callOnce({ ...server.connection, authProvider: provider })).toMatchObject({ status: 'success' });
    expect(provider.saved).toMatchObject([{ access_token: 'new-token' }]);
    expect(provider.redirects).toEqual([]);
    const refresh = await authorization.waitFor(({ path }) => path === '/token');
    expect(new URLSearchParams(refresh.body).get('refresh_token')).toBe('refresh-token');
    expect(server.calls).toHaveLength(guarded === undefined ? 1 : 2); // the one that was refused, and the one that counts
  });

  it('has its requests to another origin made without the headers and the signature of the application', async () => {
    const authorization = await authorizationServer(refreshed);
    const server = await resourceServer(authorization);
    const signed: string[] = [];
    await callOnce({
      ...server.connection,
      authProvider: new Provider(authorization),
      headers: { 'x-api-key': 'key-of-the-application' },
      signer: ({ url, headers }) => {
        signed.push(url.origin);
        headers.set('x-signature', 'signature');
      },
    });
    expect(authorization.requests.map(({ path }) => path)).toEqual([
      '/.well-known/oauth-authorization-server',
      '/token',
    ]);
    for (const { headers } of authorization.requests) {
      expect(headers).not.toHaveProperty('x-api-key');
      expect(headers).not.toHaveProperty('x-signature');
    }
    expect(new Set(signed)).toEqual(new Set([new URL(server.url).origin]));
  });

  it('may authenticate its client by a header of its own, which no error repeats', async () => {
    const secret = 'secret-of-the-client';
    const server = await authorizationServer((exchange) => {
      const said = {
        error: 'invalid_request',
        error_description: `refused: ${String(exchange.headers['x-client-secret'])}`,
      };
      exchange.raw(400, { 'content-type': 'application/json' }, JSON.stringify(said));
    });
    server.script.on = {
      ...server.script.on,
      initialize: (exchange) => exchange.raw(401, { 'www-authenticate': 'Bearer' }),
    };
    const addClientAuthentication = (headers: Headers): void => headers.set('x-client-secret', secret);
    const authProvider = Object.assign(new Provider(server), { addClientAuthentication });
    const error = await rejectionOf(callOnce({ ...server.connection, authProvider }));
    expect(server.requests.find(({ path }) => path === '/token')?.headers).toMatchObject({ 'x-client-secret': secret });
    expect(inspect(error, { depth: 9 })).toContain('refused: [redacted]');
    expect(inspect(error, { depth: 9 })).not.toContain(secret);
  });

  it('has its requests made by the `fetch` of the application, and bounded', async () => {
    const long = { access_token: 'new-token', token_type: 'Bearer', padding: 'x'.repeat(5_000) };
    const authorization = await authorizationServer((exchange) =>
      exchange.raw(200, { 'content-type': 'application/json' }, JSON.stringify(long)),
    );
    const provider = new Provider(authorization);
    const server = await resourceServer(authorization);
    const asked: string[] = [];
    const connection = {
      ...server.connection,
      authProvider: provider,
      maxResponseBytes: 2_000,
      fetch: (url: string | URL, init?: RequestInit): Promise<Response> => {
        asked.push(new URL(url).pathname);
        return fetch(url, init);
      },
    };
    const failure = await rejectionOf(connected(connection));
    expect(failure).toMatchObject({ name: 'AuthorizationRequiredError' });
    expect(provider.saved).toEqual([]); // the answer was too long to be read
    expect(asked).toEqual(['/mcp', '/metadata', '/.well-known/oauth-authorization-server', '/token']);
  });

  it('starts the authorization where there is no token, and the toolset cannot be used before', async () => {
    const authorization = await authorizationServer(refreshed);
    const server = await resourceServer(authorization);
    const provider = new Provider();
    const failure = await rejectionOf(connected({ ...server.connection, authProvider: provider }));
    expect(failure).toBeInstanceOf(ProviderError);
    expect(failure).toMatchObject({ name: 'AuthorizationRequiredError', authorizationUrl: provider.redirects[0] });
    expect(String(failure)).toContain('initialize: the server requires an authorization by the user');
    expect(provider.redirects.map(({ pathname }) => pathname)).toEqual(['/authorize']);
  });

  it('that does not get a token leaves the call refused, with a short reason and no secret', async () => {
    const authorization = await authorizationServer((exchange) =>
      exchange.raw(503, { 'content-type': 'text/html' }, `${exchange.body} ${'x'.repeat(5_000)}`),
    );
    const server = await resourceServer(authorization, 'tools/call');
    const provider = new Provider(authorization);
    const execution = await callOnce({ ...server.connection, authProvider: provider });
    const failure = failureOf(execution);
    expect(failure).toMatchObject({ name: 'AuthorizationRequiredError', outcome: 'refused' });
    expect(failure.message.length).toBeLessThan(400);
    expect(failure.message).not.toContain('old-token');
  });

  it('is asked once only, when the server does not like the new token either', async () => {
    const authorization = await authorizationServer((exchange) =>
      exchange.raw(
        200,
        { 'content-type': 'application/json' },
        '{"access_token":"another-token","token_type":"Bearer","refresh_token":"refresh-token"}',
      ),
    );
    const server = await resourceServer(authorization, 'tools/call');
    const failure = failureOf(await callOnce({ ...server.connection, authProvider: new Provider(authorization) }));
    expect(failure).toMatchObject({ name: 'ProviderError', outcome: 'refused' });
    expect(failure.message).not.toContain('another-token');
    expect(server.calls).toHaveLength(2);
  });

  it('whose authorization server hangs ends with the run', async () => {
    const authorization = await authorizationServer((exchange) => exchange.hang());
    const server = await resourceServer(authorization, 'tools/call');
    const session = await connected({ ...server.connection, authProvider: new Provider(authorization) });
    const call = session.call();
    await authorization.waitFor(({ path }) => path === '/token');
    const closed = session.run.close();
    await expect(call).rejects.toMatchObject({ name: 'CancelledError' });
    await closed;
    await authorization.waitForNoRequests();
    await server.waitForNoRequests();
  });

  it('has a stream go on with the token that there is by then', async () => {
    const authorization = await authorizationServer(refreshed);
    const server = await startRawHttp({ tools: [tool('a')] });
    const provider = new Provider(authorization);
    const late = (x: HttpExchange): unknown =>
      x
        .sse()
        .event({ jsonrpc: '2.0', id: server.requests.at(-2)?.id, result: text('late') })
        .end();
    server.script.on = {
      'tools/call': (exchange) => {
        provider.saveTokens({ access_token: 'newer-token', token_type: 'Bearer' });
        exchange.sse().event('', { id: 'one', retry: 1 }).end();
      },
      GET: (x) => (x.headers.authorization === 'Bearer newer-token' ? late(x) : x.raw(401)),
    };
    expect(await callOnce({ ...server.connection, authProvider: provider })).toMatchObject({ content: 'late' });
  });

  it('whose token cannot be sent is not quoted', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    const provider = new Provider(server);
    provider.tokens = () => ({ access_token: 'secret-token\nnext', token_type: 'Bearer' });
    const failure = await rejectionOf(connected({ ...server.connection, authProvider: provider }));
    expect(failure).toMatchObject({ name: 'ProviderError' });
    expect(inspect(failure, { depth: 9 })).toContain("the authProvider's token is no valid value of a header");
    expect(inspect(failure, { depth: 9 })).not.toContain('secret-token');
    expect(server.requests).toEqual([]);
  });

  it('must be an OAuthClientProvider', async () => {
    const failure = await rejectionOf(connected({ url: 'https://mcp.example/', authProvider: {} as never }));
    expect(String(failure)).toMatch(/ConfigurationError: .*"authProvider": expected an OAuthClientProvider/);
  });
});

describe('R38: without an authProvider', () => {
  it('a demand for credentials is a refusal that says so', async () => {
    const server = await resourceServer(await authorizationServer(refreshed), 'tools/call');
    const execution = await callOnce(server.connection);
    expect(failureOf(execution)).toMatchObject({ name: 'ProviderError', outcome: 'refused' });
    expect(failureOf(execution).message).toContain('HTTP 401 (<html>Log in</html>). Check the credentials');
    expect(execution.content).toContain('refused the call without carrying it out');
  });
});
