import { setImmediate as nextTurn } from 'node:timers/promises';
import { completeAuthorization, McpToolset, ToolBinding, ToolRegistry, type HttpConnectionOptions } from 'mcp-toolset';
import { rejectionOf } from '../contract/connected';
import { deferred } from '../contract/deferred';
import { closeRunsAfterEach, registered, startRun } from '../contract/started-run';
import { Recorder } from '../servers/recorder';
import { startProtectedMcp, type ProtectedMcp } from '../servers';
import { required, UserProvider, Users, UserStore } from './scene';

closeRunsAfterEach();

const refreshes = ({ authorization }: ProtectedMcp): number =>
  authorization.tokenRequests.filter((form) => form.get('grant_type') === 'refresh_token').length;

async function expired(more?: Partial<HttpConnectionOptions>) {
  const server = await startProtectedMcp();
  const users = new Users(server, more);
  const { run, tools } = await users.authorized('ann');
  const store = users.store('ann');
  server.authorization.grants.expireAccessTokens();
  return { server, users, run, tools, store };
}

describe('an access token that has expired', () => {
  it('is refreshed, and again by the refresh token that came with the new one', async () => {
    const { server, tools, store } = await expired();
    const first = store.tokens;
    expect(await tools.execute({ name: 'whoami' })).toMatchObject({ content: 'whoami for ann' });
    server.authorization.grants.expireAccessTokens();
    expect(await tools.execute({ name: 'whoami' })).toMatchObject({ content: 'whoami for ann' });
    expect(refreshes(server)).toBe(2);
    expect(store.tokens?.refresh_token).not.toBe(first?.refresh_token);
    expect(store.redirects).toHaveLength(1);
    expect(server.served).toHaveLength(2);
    const { grants, clients } = server.authorization;
    const old = new URLSearchParams({ refresh_token: first?.refresh_token ?? '' });
    expect(() => grants.refresh(old, clients.get(store.client?.client_id)!)).toThrow('invalid_grant');
  });

  it('is refreshed once for calls that meet the refusal together', async () => {
    const { server, tools } = await expired();
    const executions = await Promise.all(Array.from({ length: 8 }, () => tools.execute({ name: 'whoami' })));
    expect(new Set(executions.map(({ content }) => content))).toEqual(new Set(['whoami for ann']));
    expect(refreshes(server)).toBe(1);
    expect(server.served).toHaveLength(8);
  });

  it('is refreshed once for runs whose connections share the provider', async () => {
    const { server, store } = await expired();
    const provider = new UserProvider(store);
    @McpToolset({ connection: { ...server.connection, authProvider: provider } })
    class Notes {}
    const registries = await Promise.all([1, 2, 3].map(() => registered(Notes)));
    expect(registries.map(({ names }) => names.length)).toEqual([3, 3, 3]);
    expect(refreshes(server)).toBe(1);
  });

  it('is refreshed while a call that wanted it too is cancelled', async () => {
    const refusals = new Recorder<{ method: string }>();
    const { server, tools, store } = await expired({
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (response.status === 401) refusals.add({ method: init?.method ?? 'GET' });
        return response;
      },
    });
    const before = refusals.items.length;
    const answer = deferred();
    server.authorization.answerTokens(async (exchange) => {
      await answer.promise;
      await server.authorization.tokenEndpoint(exchange);
    });
    const cancelled = new AbortController();
    const first = tools.execute({ name: 'whoami' }, { signal: cancelled.signal });
    await server.authorization.http.waitFor(({ body }) => body.includes('grant_type=refresh_token'));
    const second = tools.execute({ name: 'whoami' });
    await refusals.waitFor(() => true, before + 2);
    await nextTurn(); // the second call has read its refusal, and waits like the first
    cancelled.abort();
    await expect(first).rejects.toMatchObject({ name: 'CancelledError' });
    answer.resolve();
    expect(await second).toMatchObject({ content: 'whoami for ann' });
    expect(refreshes(server)).toBe(1);
    expect(store.redirects).toHaveLength(1);
  });

  it('sends nobody anywhere when the only call that wanted it is cancelled', async () => {
    const { server, run, tools, store } = await expired();
    server.authorization.answerTokens((exchange) => exchange.hang());
    const cancelled = new AbortController();
    const call = tools.execute({ name: 'whoami' }, { signal: cancelled.signal });
    await server.authorization.http.waitFor(({ body }) => body.includes('refresh_token'));
    cancelled.abort();
    await expect(call).rejects.toMatchObject({ name: 'CancelledError' });
    await server.authorization.http.waitForNoRequests();
    expect(refreshes(server)).toBe(1);
    expect(server.http.requests.map(({ method }) => method)).not.toContain('notifications/cancelled');
    server.authorization.answerTokens();
    expect(await run.resolve(ToolRegistry).execute({ name: 'whoami' })).toMatchObject({ status: 'success' });
    expect(store.redirects).toHaveLength(1);
  });
});

describe('a run that closes', () => {
  it('gets no token for its farewell', async () => {
    const { server, run, store } = await expired();
    await run.close();
    expect(server.http.requests.at(-1)?.httpMethod).toBe('DELETE');
    expect(refreshes(server)).toBe(0);
    expect(store.redirects).toHaveLength(1);
  });
});

describe('a refresh token that is refused', () => {
  it('makes the user authorize again', async () => {
    const { server, users, tools, store } = await expired();
    server.authorization.grants.revokeRefreshTokens();
    const { error, content } = await tools.execute({ name: 'whoami' });
    expect(required(error).outcome).toBe('refused');
    expect(content).toContain('refused');
    expect(store.tokens).toBeUndefined();
    await users.authorize('ann', required(error));
    expect(await tools.execute({ name: 'whoami' })).toMatchObject({ content: 'whoami for ann' });
  });

  it('because another process has used it does not cost the tokens which that one got', async () => {
    const { server, tools, store } = await expired();
    const stale = store.tokens;
    server.authorization.answerTokens(async (exchange) => {
      server.authorization.answerTokens();
      const form = new URLSearchParams(exchange.body);
      const client = server.authorization.clients.get(store.client?.client_id);
      if (client) store.tokens = { ...stale, ...server.authorization.grants.refresh(form, client) };
      await server.authorization.tokenEndpoint(exchange);
    });
    expect(await tools.execute({ name: 'whoami' })).toMatchObject({ content: 'whoami for ann' });
    expect(store.redirects).toHaveLength(1);
    expect(store.tokens?.refresh_token).not.toBe(stale?.refresh_token);
  });

  it('when a forgotten session is opened again still says where the user is to be sent', async () => {
    const server = await startProtectedMcp();
    const users = new Users(server, {
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (response.status === 404) server.authorization.grants.expireAccessTokens();
        return response;
      },
    });
    const { tools } = await users.authorized('ann');
    server.authorization.grants.revokeRefreshTokens();
    await server.restart();
    const { error } = await tools.execute({ name: 'whoami' });
    expect(required(error).message).toContain('the server has forgotten the session');
    expect(required(error).outcome).toBe('refused');
    expect(required(error).authorizationUrl).toEqual(users.store('ann').redirects.at(-1));
  });
});

describe('what a method of the provider throws', () => {
  const broken = new Error('the database is gone');
  it.each(['tokens', 'saveTokens'] as const)('reaches the application as it is, from %s', async (method) => {
    const { server, store } = await expired();
    const provider = new UserProvider(store);
    provider[method] = () => {
      throw broken;
    };
    @McpToolset({ optional: true, connection: { ...server.connection, authProvider: provider } })
    class Notes {}
    const tools = startRun().resolve(ToolRegistry);
    await expect(tools.register(Notes)).rejects.toBe(broken);
    expect(store.redirects).toHaveLength(1);
  });

  it('reaches the application as it is, from the completing of an authorization', async () => {
    const server = await startProtectedMcp();
    const provider = new UserProvider(new UserStore());
    @McpToolset({ connection: { ...server.connection, authProvider: provider } })
    class Notes {}
    const refusal = required(await rejectionOf(registered(Notes)));
    const { code } = await server.authorization.consent(refusal.authorizationUrl);
    provider.saveTokens = () => {
      throw broken;
    };
    await expect(completeAuthorization(Notes, startRun().resolve(ToolBinding), code)).rejects.toBe(broken);
  });
});
