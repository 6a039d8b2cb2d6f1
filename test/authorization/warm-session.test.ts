import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { SessionRegistry, type HttpConnectionOptions } from 'mcp-toolset';
import { container } from 'tsyringe';
import { closeRunsAfterEach } from '../contract/started-run';
import { startProtectedMcp, type ProtectedMcp } from '../servers';
import { required, Users, UserStore } from './scene';

afterEach(() => container.resolve(SessionRegistry).closeAll());
closeRunsAfterEach();

const sent = ({ http }: ProtectedMcp, wanted: string): number =>
  http.requests.filter(({ method }) => method === wanted).length;

/** A session of the application that a run of Ada has left. */
async function warm(more: Partial<HttpConnectionOptions> = {}) {
  const server = await startProtectedMcp();
  const users = new Users(server, more, { session: { scope: 'application', key: () => 'ada' } });
  const { run, tools } = await users.authorized('ada');
  expect(await tools.execute({ name: 'whoami' })).toMatchObject({ content: 'whoami for ada' });
  await run.close();
  return { server, users, opened: sent(server, 'initialize') };
}

describe('R43: a session of the application whose provider cannot go on without its user', () => {
  const lapsed = async () => {
    const { server, users } = await warm();
    server.authorization.grants.expireAccessTokens();
    server.authorization.grants.revokeRefreshTokens();
    // What the next runs know of the user is not what the run knew that opened it.
    users.stores.set('ada', new UserStore());
    return { server, users };
  };

  it('says where the provider of the run that notices sends the user', async () => {
    const { users } = await lapsed();
    const refusal = await users.refused('ada');
    expect(refusal.authorizationUrl).toEqual(users.store('ada').redirects.at(-1));
    expect(refusal.message).toContain('which an earlier run opened');
  });

  it('is opened anew where the provider of the run that notices can', async () => {
    const { server, users } = await lapsed();
    await users.authorize('ada', await users.refused('ada'));
    const before = sent(server, 'initialize');
    for (let time = 0; time < 2; time += 1) {
      const { run, tools } = await users.run('ada');
      expect(await tools.execute({ name: 'whoami' })).toMatchObject({ content: 'whoami for ada' });
      await run.close();
    }
    expect(sent(server, 'initialize')).toBe(before + 1);
  });
});

describe('R43: a session of the application stays', () => {
  it('where a call needs more scopes, which the user is asked for once', async () => {
    const { server, users, opened } = await warm();
    const { tools } = await users.run('ada');
    const before = users.store('ada').redirects.length;
    required((await tools.execute({ name: 'write' })).error);
    expect(users.store('ada').redirects).toHaveLength(before + 1);
    expect(sent(server, 'initialize')).toBe(opened);
  });

  it('where a fetch of the application says that it was not authorized, which it may after the server has taken the call', async () => {
    let isLost = false;
    const { server, users, opened } = await warm({
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (isLost) throw new UnauthorizedError('Failed to re-authenticate: fetch failed');
        return response;
      },
    });
    const { tools } = await users.run('ada');
    isLost = true;
    const before = server.served.length;
    expect(await tools.execute({ name: 'whoami' })).toMatchObject({ error: { outcome: 'unknown' } });
    expect(server.served).toHaveLength(before + 1);
    expect(sent(server, 'initialize')).toBe(opened);
  });
});
