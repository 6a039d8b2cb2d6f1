import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { ProviderError } from 'mcp-toolset';
import { failureOf } from '../contract/connected';
import { closeRunsAfterEach } from '../contract/started-run';
import { startProtectedMcp } from '../servers';
import { machine, required, toolsOf, Users } from './scene';

closeRunsAfterEach();

const WRITE = { name: 'write' };

describe('a call that needs more scopes', () => {
  it.each([
    ['all that are needed', undefined],
    ['only the missing one', (): string => 'error="insufficient_scope", scope="mcp:write"'],
  ])('asks the user for the wider scope where the server names %s', async (_, challenge) => {
    const server = await startProtectedMcp();
    if (challenge) server.scopeChallenge = challenge;
    const users = new Users(server);
    const { tools } = await users.authorized('ann');
    expect(await tools.execute({ name: 'whoami' })).toMatchObject({ status: 'success' });

    const refusal = required((await tools.execute(WRITE)).error);
    expect(refusal.outcome).toBe('refused');
    expect(refusal.authorizationUrl.searchParams.get('scope')).toBe('mcp:read mcp:write');
    expect(await tools.execute({ name: 'whoami' })).toMatchObject({ status: 'success' }); // it has not lost its token
    expect(server.served.filter(({ tool }) => tool === 'write')).toEqual([]);

    await users.authorize('ann', refusal);
    expect(await tools.execute(WRITE)).toMatchObject({ content: 'write for ann' });
    const { tools: next } = await users.run('ann');
    expect(await next.execute(WRITE)).toMatchObject({ content: 'write for ann' });
    expect(await next.execute({ name: 'whoami' })).toMatchObject({ content: 'whoami for ann' });
  });

  it('is carried out by itself where no user is needed, once', async () => {
    const server = await startProtectedMcp();
    const { id, provider } = machine(server, ClientCredentialsProvider);
    const tools = await toolsOf(server, provider);
    const executions = await Promise.all([tools.execute(WRITE), tools.execute(WRITE)]);
    expect(executions).toMatchObject([{ content: `write for ${id}` }, { content: `write for ${id}` }]);
    expect(server.served).toHaveLength(2);
    const scopes = server.authorization.tokenRequests.map((form) => form.get('scope'));
    expect(scopes).toEqual(['mcp:read', 'mcp:read mcp:write']);
  });

  it('gets the scopes of calls that step up at the same time together', async () => {
    const server = await startProtectedMcp();
    const { provider } = machine(server, ClientCredentialsProvider);
    const tools = await toolsOf(server, provider);
    const executions = await Promise.all([tools.execute(WRITE), tools.execute({ name: 'erase' })]);
    expect(executions).toMatchObject([{ status: 'success' }, { status: 'success' }]);
  });

  it('steps up with a token that has expired as well', async () => {
    const server = await startProtectedMcp();
    const { id, provider } = machine(server, ClientCredentialsProvider);
    const tools = await toolsOf(server, provider);
    server.authorization.grants.expireAccessTokens();
    expect(await tools.execute(WRITE)).toMatchObject({ content: `write for ${id}` });
    expect(server.served).toHaveLength(1);
  });
});

describe('a call that is forbidden for another reason', () => {
  it('is refused, and nobody is asked for anything', async () => {
    const server = await startProtectedMcp();
    const users = new Users(server);
    const { tools } = await users.authorized('ann');
    server.scopeChallenge = () => 'error="access_denied", scope="mcp:write"';
    expect(failureOf(await tools.execute(WRITE))).toMatchObject({ name: 'ProviderError', outcome: 'refused' });
    expect(users.store('ann').redirects).toHaveLength(1);
  });
});

describe('a server that is never content', () => {
  it('does not send the user away again who has given all that it wants', async () => {
    const server = await startProtectedMcp();
    const users = new Users(server);
    const { tools } = await users.authorized('ann');
    server.scopeChallenge = () => 'error="insufficient_scope", scope="mcp:read"';
    const failure = failureOf(await tools.execute(WRITE));
    expect(failure).toMatchObject({ name: 'ProviderError', outcome: 'refused' });
    expect(failure.message).toContain('HTTP 403 (Not so.)');
    expect(users.store('ann').redirects).toHaveLength(1);
  });

  it.each([
    ['the same', (): string => 'error="insufficient_scope", scope="mcp:write"'],
    ['nothing of', (): string => 'error="insufficient_scope"'],
    ['another', (_: string, n: number): string => `error="insufficient_scope", scope="scope:${n}"`],
  ])('and names %s scope each time is asked a bounded number of times', async (_, challenge) => {
    const server = await startProtectedMcp();
    const { provider } = machine(server, ClientCredentialsProvider);
    const tools = await toolsOf(server, provider);
    let refusals = 0;
    server.baseScope = 'scope:none';
    server.scopeChallenge = (needed) => challenge(needed, (refusals += 1));
    const failure = failureOf(await tools.execute(WRITE));
    expect(failure).toBeInstanceOf(ProviderError);
    expect(failure).toMatchObject({ outcome: 'refused' });
    expect(server.http.calls).toHaveLength(2);
    expect(server.served).toEqual([]);
  });
});
