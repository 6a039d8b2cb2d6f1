import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { McpToolset, ToolRegistry, type RunOptions } from 'mcp-toolset';
import { gate } from '../contract/live-run';
import { closeRunsAfterEach, startRun } from '../contract/started-run';
import { startProtectedMcp, type HttpExchange } from '../servers';
import { required, UserProvider, Users } from './scene';

closeRunsAfterEach();

it('the address where one user has to authorize is told to no other user who waits for the same catalog', async () => {
  const server = await startProtectedMcp();
  const users = new Users(server);
  for (const user of ['ada', 'bob']) await users.authorize(user, await users.refused(user));
  @McpToolset({
    connection: ({ run }) => ({
      ...server.connection,
      authProvider: new UserProvider(users.store(run?.invocation.actorId ?? '')),
    }),
    catalog: { ttl: 60_000, key: () => 'everyone' },
  })
  class Shared {}
  const register = async (options: RunOptions): Promise<ToolRegistry> => {
    const tools = startRun(options).resolve(ToolRegistry);
    await tools.register(Shared);
    return tools;
  };

  // The session of the first user is forgotten while it lists, and meanwhile the user's tokens have been taken back.
  const forget = gate();
  const serve = server.http.script.on?.['/mcp'] as (exchange: HttpExchange) => unknown;
  let lists = 0;
  server.http.script.on = {
    ...server.http.script.on,
    '/mcp': async (exchange) => {
      if (exchange.method !== 'tools/list' || (lists += 1) > 1) return serve(exchange);
      await forget.passed;
      users.store('ada').tokens = undefined;
      exchange.raw(404, {}, 'No such session.');
    },
  };
  const ada = register({ actorId: 'ada' }).catch((error: unknown) => error);
  await server.http.waitFor('tools/list');
  const bob = register({ actorId: 'bob' }).catch((error: unknown) => error);
  forget.open();
  expect(required(await ada).authorizationUrl).toBeInstanceOf(URL);
  expect(await bob).toBeInstanceOf(ToolRegistry);
});

it('a fetch that fails because of the token of its own user is taken over by another', async () => {
  const server = await startProtectedMcp();
  const users = new Users(server);
  await users.authorize('bob', await users.refused('bob'));
  const asked = gate();
  const answer = gate();
  const tokens = async (): Promise<OAuthTokens> => {
    asked.open();
    await answer.passed;
    return { access_token: 'one\nother', token_type: 'Bearer' };
  };
  @McpToolset({
    connection: ({ run }) => ({
      ...server.connection,
      authProvider: Object.assign(
        new UserProvider(users.store('bob')),
        run?.invocation.actorId === 'ada' && { tokens },
      ),
    }),
    catalog: { ttl: 60_000, key: () => 'everyone' },
  })
  class Shared {}
  const register = async (options: RunOptions): Promise<ToolRegistry> => {
    const tools = startRun(options).resolve(ToolRegistry);
    await tools.register(Shared);
    return tools;
  };
  const ada = register({ actorId: 'ada' }).catch((error: unknown) => error);
  await asked.passed;
  const bob = register({ actorId: 'bob' }).catch((error: unknown) => error);
  answer.open();
  expect(await ada).toMatchObject({ code: 'provider_error' });
  expect(await bob).toBeInstanceOf(ToolRegistry);
});
