import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { AuthorizationRequiredError, completeAuthorization, McpToolset, OnError, ToolBinding } from 'mcp-toolset';
import { failureOf, rejectionOf } from '../contract/connected';
import { closeRunsAfterEach, registered, startRun } from '../contract/started-run';
import { leapingClock, LIMIT } from '../leaping-clock';
import { startProtectedMcp, type HttpExchange, type HttpHandler } from '../servers';
import { machine, toolsOf, UserProvider, Users, UserStore } from './scene';

closeRunsAfterEach();
const clock = leapingClock();

const json = { 'content-type': 'application/json' };
const SAYS: [string, HttpHandler, string][] = [
  ['500', (exchange: HttpExchange) => exchange.raw(500), 'the authorization server answered HTTP 500'],
  [
    'a page',
    (exchange: HttpExchange) => exchange.raw(503, { 'content-type': 'text/html' }, '<html>Down</html>'),
    'the authorization server answered HTTP 503: <html>Down</html>',
  ],
  [
    'a page as if it were a token',
    (exchange: HttpExchange) => exchange.raw(200, { 'content-type': 'text/html' }, '<html>Log in</html>'),
    "the authorization server's answer cannot be read",
  ],
  [
    'a token of another form',
    (exchange: HttpExchange) => exchange.raw(200, json, '{"access_token":["a"]}'),
    "the authorization server's answer cannot be read",
  ],
  [
    'invalid_client',
    (exchange: HttpExchange) => exchange.raw(401, json, '{"error":"invalid_client","error_description":"unknown"}'),
    'the authorization server answered invalid_client: unknown',
  ],
  [
    'invalid_grant',
    (exchange: HttpExchange) => exchange.raw(400, json, '{"error":"invalid_grant"}'),
    'the authorization server answered invalid_grant',
  ],
  ['nothing', (exchange: HttpExchange) => exchange.destroy(), 'fetch failed'],
];

describe('a token endpoint that answers', () => {
  it.each(SAYS)('%s fails discovery, and the call whose token has expired', async (_, answer, reason) => {
    const server = await startProtectedMcp();
    const { provider } = machine(server, ClientCredentialsProvider);
    server.authorization.answerTokens(answer);
    const failure = await rejectionOf(toolsOf(server, provider));
    expect(failure).toMatchObject({ name: 'ProviderError' });
    expect(String(failure)).toContain(`HTTP 401 (no token: ${reason}`);

    server.authorization.answerTokens();
    const tools = await toolsOf(server, provider);
    server.authorization.grants.expireAccessTokens();
    server.authorization.answerTokens(answer);
    const refused = failureOf(await tools.execute({ name: 'whoami' }));
    expect(refused).toMatchObject({ name: 'ProviderError', outcome: 'refused' });
    expect(refused.message).toContain(`HTTP 401 (no token: ${reason}`);
    server.authorization.answerTokens();
    expect(await tools.execute({ name: 'whoami' })).toMatchObject({ status: 'success' });
  });

  it.each(SAYS)('%s does not complete an authorization', async (_, answer, reason) => {
    const server = await startProtectedMcp();
    const users = new Users(server);
    const refusal = await users.refused('ann');
    server.authorization.answerTokens(answer);
    const failure = await rejectionOf(users.authorize('ann', refusal));
    expect(failure).toMatchObject({ name: 'ProviderError' });
    const said = reason.includes('invalid_client') ? 'OAuth client information is required' : reason;
    expect(String(failure)).toContain('Toolset Notes: the authorization could not be completed: ');
    expect(String(failure)).toContain(said);
  });

  it.each(SAYS)('%s to a refresh sends the user away', async (_, answer) => {
    const server = await startProtectedMcp();
    const users = new Users(server);
    const { tools } = await users.authorized('ann');
    server.authorization.grants.expireAccessTokens();
    server.authorization.answerTokens(answer);
    const { error } = await tools.execute({ name: 'whoami' });
    expect(error).toBeInstanceOf(AuthorizationRequiredError);
    expect(error).toMatchObject({ outcome: 'refused' });
  });

  it.each(SAYS)('%s is told to @OnError of an optional toolset', async (_, answer, reason) => {
    const server = await startProtectedMcp();
    const { provider } = machine(server, ClientCredentialsProvider);
    server.authorization.answerTokens(answer);
    const seen: unknown[] = [];
    @McpToolset({ optional: true, connection: { ...server.connection, authProvider: provider } })
    class Notes {
      @OnError()
      report(error: unknown): void {
        seen.push(error);
      }
    }
    expect((await registered(Notes)).names).toEqual([]);
    expect(seen.map(String)).toEqual([expect.stringContaining(reason)]);
  });
});

describe('a token endpoint that never answers', () => {
  it.each([
    ['the timeout', { timeout: LIMIT }, {}, 'ProviderError'],
    ['the deadline', {}, { timeout: LIMIT }, 'DeadlineExceededError'],
  ])('is waited for until %s', async (_, connection, options, name) => {
    const server = await startProtectedMcp();
    const { provider } = machine(server, ClientCredentialsProvider);
    server.authorization.answerTokens((exchange) => exchange.hang());
    @McpToolset({ connection: { ...server.connection, ...connection, authProvider: provider } })
    class Notes {}
    const rejection = rejectionOf(registered(Notes, startRun(options)));
    await server.authorization.http.waitFor(({ body }) => body.includes('grant_type='));
    clock.leap(LIMIT);
    expect(await rejection).toMatchObject({ name });
    await server.authorization.http.waitForNoRequests();
  });

  it.each([
    ['the timeout', { timeout: LIMIT }, {}, 'ProviderError'],
    ['the deadline', {}, { timeout: LIMIT }, 'DeadlineExceededError'],
  ])('holds up the completing of an authorization until %s', async (_, connection, forRun, name) => {
    const server = await startProtectedMcp();
    const options = {};
    const users = new Users(server, options);
    const { code } = await server.authorization.consent((await users.refused('ann')).authorizationUrl, 'ann');
    server.authorization.answerTokens((exchange) => exchange.hang());
    Object.assign(options, connection);
    const binding = startRun({ actorId: 'ann', ...forRun }).resolve(ToolBinding);
    const rejection = rejectionOf(completeAuthorization(users.toolset, binding, code));
    await server.authorization.http.waitFor(({ body }) => body.includes('grant_type='));
    clock.leap(LIMIT);
    expect(await rejection).toMatchObject({ name });
    await server.authorization.http.waitForNoRequests();
  });

  it('is not waited for by a run that is cancelled', async () => {
    const server = await startProtectedMcp();
    const users = new Users(server);
    const { code } = await server.authorization.consent((await users.refused('ann')).authorizationUrl, 'ann');
    server.authorization.answerTokens((exchange) => exchange.hang());
    const run = startRun({ actorId: 'ann' });
    const completed = rejectionOf(completeAuthorization(users.toolset, run.resolve(ToolBinding), code));
    await server.authorization.http.waitFor(({ body }) => body.includes('authorization_code'));
    run.cancel();
    expect(await completed).toMatchObject({ name: 'CancelledError' });
    await server.authorization.http.waitForNoRequests();
    expect(users.store('ann').tokens).toBeUndefined();
  });
});

describe('an authorization server that would send the user', () => {
  it('to something else than https: is refused', async () => {
    const server = await startProtectedMcp();
    const store = new UserStore();
    const failure = await rejectionOf(
      toolsOf(
        {
          connection: {
            url: 'https://mcp.example/rpc',
            fetch: (url, init) => secure(server.http.url, server.authorization.origin, url, init),
          },
        },
        new UserProvider(store),
      ),
    );
    expect(failure).toMatchObject({ name: 'ProviderError' });
    expect(String(failure)).toContain('the user would be sent to http://127.0.0.1');
    expect(store.redirects).toEqual([]);
  });
});

/** Serves a protected server as if it were https://mcp.example and its authorization server https://auth.example. */
async function secure(mcp: string, origin: string, url: string | URL, init?: RequestInit): Promise<Response> {
  const { pathname, hostname } = new URL(url);
  const to = hostname === 'auth.example' ? new URL(pathname, origin) : new URL(pathname.replace('/rpc', '/mcp'), mcp);
  const response = await fetch(to, init);
  const headers = new Headers(response.headers);
  headers.delete('content-length');
  const challenge = headers.get('www-authenticate')?.replaceAll(new URL(mcp).origin, 'https://mcp.example');
  if (challenge !== undefined) headers.set('www-authenticate', challenge);
  const text = (await response.text())
    .replaceAll(`"resource":"${mcp}"`, '"resource":"https://mcp.example/rpc"')
    .replaceAll(`["${origin}"]`, '["https://auth.example"]')
    .replaceAll(`${origin}/oauth/token`, 'https://auth.example/oauth/token')
    .replaceAll(`${origin}/oauth/register`, 'https://auth.example/oauth/register');
  return new Response(text, { status: response.status, headers });
}
