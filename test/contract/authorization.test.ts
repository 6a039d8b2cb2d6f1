import { container } from 'tsyringe';
import {
  AuthorizationRequiredError,
  completeAuthorization,
  ConfigurationError,
  McpToolset,
  OnError,
  ProviderError,
  RunFactory,
  ToolBinding,
  ToolRegistry,
  type HttpConnectionOptions,
  type McpToolsetError,
} from 'mcp-toolset';
import { closeServersAfterEach, startRawHttp, tool } from '../servers';
import { callOnce, connected, rejectionOf } from './connected';
import { authorizationServer, Provider, refreshed, resourceServer } from './oauth-scene';

closeServersAfterEach();

/** A toolset whose users authorize by this provider. */
function toolsetOf(connection: HttpConnectionOptions) {
  @McpToolset({ connection: () => connection })
  class Notes {}
  return Notes;
}

const binding = (): ToolBinding => new ToolBinding({ container });

describe('R38: an authorization that only the user can give', () => {
  it('is an AuthorizationRequiredError with the URL to send the user to, and is completed by the code', async () => {
    const authorization = await authorizationServer(refreshed);
    const server = await resourceServer(authorization);
    const provider = new Provider();
    const Notes = toolsetOf({ ...server.connection, authProvider: provider });

    await using run = container.resolve(RunFactory).start();
    const failure = await rejectionOf(run.resolve(ToolRegistry).register(Notes));
    expect(failure).toBeInstanceOf(AuthorizationRequiredError);
    expect(failure).toBeInstanceOf(ProviderError);
    const { authorizationUrl } = failure as AuthorizationRequiredError;
    expect(authorizationUrl.pathname).toBe('/authorize');
    expect(String(failure)).not.toContain(provider.codeVerifier());

    await completeAuthorization(Notes, binding(), 'code-of-the-user');
    const exchanged = await authorization.waitFor(({ path }) => path === '/token');
    const form = new URLSearchParams(exchanged.body);
    expect(form.get('code')).toBe('code-of-the-user');
    expect(form.get('code_verifier')).toBe(provider.codeVerifier());

    await using next = container.resolve(RunFactory).start();
    const tools = next.resolve(ToolRegistry);
    await tools.register(Notes);
    expect(tools.names).toEqual(['a']);
  });

  it('is told to @OnError of an optional toolset', async () => {
    const authorization = await authorizationServer(refreshed);
    const server = await resourceServer(authorization);
    const seen: McpToolsetError[] = [];
    @McpToolset({ optional: true, connection: { ...server.connection, authProvider: new Provider() } })
    class Notes {
      @OnError()
      report(error: McpToolsetError): void {
        seen.push(error);
      }
    }
    await using run = container.resolve(RunFactory).start();
    await run.resolve(ToolRegistry).register(Notes);
    expect(seen).toEqual([expect.any(AuthorizationRequiredError)]);
  });

  it('that is refused in the end is a ProviderError without the code', async () => {
    const authorization = await authorizationServer((exchange) =>
      exchange.raw(
        400,
        { 'content-type': 'application/json' },
        '{"error":"invalid_grant","error_description":"bad stale-code"}',
      ),
    );
    const server = await resourceServer(authorization);
    const Notes = toolsetOf({ ...server.connection, authProvider: new Provider() });
    await rejectionOf(connected(() => ({ ...server.connection, authProvider: new Provider() })));
    const failure = await rejectionOf(completeAuthorization(Notes, binding(), 'stale-code'));
    expect(failure).toMatchObject({ name: 'ProviderError' });
    expect(String(failure)).toMatch(
      /Toolset Notes: the authorization could not be completed: .*Let the user authorize again/,
    );
    expect(String(failure)).not.toContain('stale-code');
  });

  it.each([
    ['over HTTP without an authProvider', { url: 'https://mcp.example/' }],
    ['over stdio', { command: 'true' }],
  ])('is a ConfigurationError %s', async (_, connection) => {
    @McpToolset({ connection })
    class Notes {}
    const failure = await rejectionOf(completeAuthorization(Notes, binding(), 'code'));
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect(String(failure)).toContain('Toolset Notes: its connection has no authorization to complete');
  });
});

describe('R38: a token that has expired', () => {
  it('is refreshed once for all calls that meet the 401 together', async () => {
    const authorization = await authorizationServer(refreshed);
    const server = await resourceServer(authorization, 'tools/call');
    const provider = new Provider(authorization);
    await using session = await connected({ ...server.connection, authProvider: provider });
    const executions = await Promise.all(Array.from({ length: 8 }, () => session.call()));
    for (const execution of executions) expect(execution).toMatchObject({ status: 'success' });
    expect(authorization.requests.filter(({ path }) => path === '/token')).toHaveLength(1);
    expect(provider.saved).toHaveLength(1);
  });
});

describe('R38: a provider that has a new token each time it is asked', () => {
  it('does not make a request that the server keeps refusing go out without end', async () => {
    const authorization = await authorizationServer((exchange) => exchange.raw(503));
    const server = await resourceServer(authorization);
    let minted = 0;
    const provider = new Provider(authorization);
    provider.tokens = () => ({ access_token: `minted-${(minted += 1)}`, token_type: 'Bearer' });
    expect(await rejectionOf(connected({ ...server.connection, authProvider: provider }))).toBeInstanceOf(
      ProviderError,
    );
    expect(server.requests.filter(({ method }) => method === 'initialize')).toHaveLength(2);
  });
});

describe('R38: authorization over plain http', () => {
  it('is refused where the endpoint is https, wherever the server points', async () => {
    const asked: string[] = [];
    const failure = await rejectionOf(
      callOnce({
        url: 'https://mcp.example/rpc',
        authProvider: new Provider(),
        fetch: (url) => {
          asked.push(new URL(url).origin);
          const challenge = 'Bearer resource_metadata="http://127.0.0.1:1/metadata"';
          return Promise.resolve(new Response('', { status: 401, headers: { 'www-authenticate': challenge } }));
        },
      }),
    );
    expect(failure).toBeInstanceOf(ProviderError);
    expect(asked.every((origin) => origin === 'https://mcp.example')).toBe(true);
  });
});

describe('R38: what may not appear in an error', () => {
  it('is a value of the URL that a page repeats, or a header that the data of an error repeats', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    server.script.on = {
      'tools/call': (x) => x.error(-32000, 'no', { got: [x.headers['x-key']] }),
      'tools/list': (x) => x.raw(502, {}, `cannot fetch /mcp?api_key=sk-very-secret`),
    };
    const url = `${server.url}?api_key=sk-very-secret`;
    expect(String(await rejectionOf(connected({ url, allowInsecureHttp: true })))).not.toContain('sk-very-secret');
    delete server.script.on['tools/list'];
    const { error } = await callOnce({ ...server.connection, headers: { 'x-key': 'key-very-secret' } });
    expect(JSON.stringify((error as Error).cause)).toBe('{"code":-32000,"message":"no","data":{"got":["[redacted]"]}}');
  });
});
