import { SessionRegistry } from 'mcp-toolset';
import { container } from 'tsyringe';
import { closeRunsAfterEach } from '../contract/started-run';
import { startProtectedMcp } from '../servers';
import { Users, UserStore } from './scene';

afterEach(() => container.resolve(SessionRegistry).closeAll());
closeRunsAfterEach();

describe('R43: a session of the application whose provider cannot go on without its user', () => {
  const lapsed = async () => {
    const server = await startProtectedMcp();
    const key = (): string => 'ada';
    const users = new Users(server, {}, { session: { scope: 'application', key } });
    const { run, tools } = await users.authorized('ada');
    expect(await tools.execute({ name: 'whoami' })).toMatchObject({ content: 'whoami for ada' });
    await run.close();
    server.authorization.grants.expireAccessTokens();
    server.authorization.grants.revokeRefreshTokens();
    // What the next runs know of the user is not what the run knew that opened it.
    users.stores.set('ada', new UserStore());
    return { server, users };
  };
  const initialized = ({ http }: Awaited<ReturnType<typeof lapsed>>['server']): number =>
    http.requests.filter(({ method }) => method === 'initialize').length;

  it('says where the provider of the run that notices sends the user', async () => {
    const { users } = await lapsed();
    const refusal = await users.refused('ada');
    expect(refusal.authorizationUrl).toEqual(users.store('ada').redirects.at(-1));
    expect(refusal.message).toContain('which an earlier run opened');
  });

  it('is opened anew where the provider of the run that notices can', async () => {
    const { server, users } = await lapsed();
    await users.authorize('ada', await users.refused('ada'));
    const before = initialized(server);
    for (let time = 0; time < 2; time += 1) {
      const { run, tools } = await users.run('ada');
      expect(await tools.execute({ name: 'whoami' })).toMatchObject({ content: 'whoami for ada' });
      await run.close();
    }
    expect(initialized(server)).toBe(before + 1);
  });
});
