import { ProviderError } from 'mcp-toolset';
import { rejectionOf } from '../contract/connected';
import { closeRunsAfterEach } from '../contract/started-run';
import { startProtectedMcp } from '../servers';
import { Users } from './scene';

closeRunsAfterEach();

describe('an authorization by the user', () => {
  it('goes from the refusal over the URL and its code to the next run', async () => {
    const server = await startProtectedMcp();
    const users = new Users(server);
    const failure = await users.refused('ann');
    expect(failure.authorizationUrl.searchParams.get('code_challenge_method')).toBe('S256');
    expect(failure.authorizationUrl.searchParams.get('resource')).toBe(server.http.url);
    expect(failure.authorizationUrl.searchParams.get('scope')).toBe('mcp:read');

    await users.authorize('ann', failure);
    const { tools } = await users.run('ann');
    expect(await tools.execute({ name: 'whoami' })).toMatchObject({ status: 'success', content: 'whoami for ann' });
    const [exchanged] = server.authorization.tokenRequests;
    expect(exchanged?.get('resource')).toBe(server.http.url);
    expect(exchanged?.get('code_verifier')).toBe(users.store('ann').verifier);
  });

  it('keeps two users who authorize at once apart', async () => {
    const server = await startProtectedMcp();
    const users = new Users(server);
    const names = ['ann', 'bob'];
    const runs = await Promise.all(names.map((name) => users.authorized(name)));
    const calls = runs.flatMap(({ tools }) => [1, 2, 3].map(() => tools.execute({ name: 'whoami' })));
    const contents = (await Promise.all(calls)).map(({ content }) => content);
    expect(contents).toEqual(['ann', 'ann', 'ann', 'bob', 'bob', 'bob'].map((name) => `whoami for ${name}`));
    expect(new Set(names.map((name) => users.store(name).tokens?.access_token)).size).toBe(2);
  });

  it('does not serve another user', async () => {
    const users = new Users(await startProtectedMcp());
    await users.authorized('ann');
    await users.refused('bob');
  });

  it.each([
    ['a code that nobody was given', (): string => 'code-of-nobody'],
    ['a code that was used', (code: string): string => code],
  ])('is not completed by %s', async (_, codeOf) => {
    const server = await startProtectedMcp();
    const users = new Users(server);
    const { code } = await server.authorization.consent((await users.refused('ann')).authorizationUrl, 'ann');
    await users.complete('ann', code);
    const before = users.store('ann').tokens;
    const failure = await rejectionOf(users.complete('ann', codeOf(code)));
    expect(failure).toBeInstanceOf(ProviderError);
    expect(String(failure)).toContain('invalid_grant');
    expect(String(failure)).toContain('Let the user authorize again');
    expect(String(failure)).not.toContain(codeOf(code));
    expect(users.store('ann').tokens).toEqual(before); // a code that somebody made up costs the user nothing
  });

  it('is not completed with the verifier of another attempt', async () => {
    const server = await startProtectedMcp();
    const users = new Users(server);
    const { code } = await server.authorization.consent((await users.refused('ann')).authorizationUrl, 'ann');
    await users.refused('ann');
    const failure = await rejectionOf(users.complete('ann', code));
    expect(String(failure)).toContain('invalid_grant');
    expect(String(failure)).not.toContain(users.store('ann').verifier);
  });

  it('sends all calls of a run that meet the demand together to one URL', async () => {
    const server = await startProtectedMcp();
    const users = new Users(server);
    const { tools } = await users.authorized('ann');
    users.store('ann').tokens = undefined;
    const executions = await Promise.all([1, 2, 3].map(() => tools.execute({ name: 'whoami' })));
    const urls = executions.map(({ error }) => String((error as { authorizationUrl?: URL }).authorizationUrl));
    expect(new Set(urls)).toEqual(new Set([String(users.store('ann').redirects.at(-1))]));
    expect(users.store('ann').redirects).toHaveLength(2);
    expect(executions).toMatchObject([1, 2, 3].map(() => ({ error: { outcome: 'refused' } })));
  });
});
