import { closeRunsAfterEach } from '../contract/started-run';
import { startProtectedMcp, type ProtectedMcpOptions } from '../servers';
import { Users } from './scene';

closeRunsAfterEach();

/** Where the resource and its authorization server describe themselves, and where that is looked for. */
const PLACES: [string, ProtectedMcpOptions, string[]][] = [
  ['the challenge says where', { resourceMetadata: 'header' }, ['/.well-known/oauth-authorization-server']],
  ['at the known place of its path', { resourceMetadata: 'path' }, ['/.well-known/oauth-authorization-server']],
  ['at the known place of its origin', { resourceMetadata: 'root' }, ['/.well-known/oauth-authorization-server']],
  ['and the server has a path', { issuerPath: '/tenant' }, ['/.well-known/oauth-authorization-server/tenant']],
  [
    'and the server speaks OpenID',
    { metadata: 'openid' },
    ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'],
  ],
  [
    'and the server with a path speaks OpenID',
    { metadata: 'openid', issuerPath: '/tenant' },
    ['/.well-known/oauth-authorization-server/tenant', '/.well-known/openid-configuration/tenant'],
  ],
  [
    'and the server with a path speaks OpenID as of old',
    { metadata: 'openid-appended', issuerPath: '/tenant' },
    [
      '/.well-known/oauth-authorization-server/tenant',
      '/.well-known/openid-configuration/tenant',
      '/tenant/.well-known/openid-configuration',
    ],
  ],
  [
    'and the server says nothing',
    { metadata: 'none' },
    ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'],
  ],
  [
    'nowhere, and its origin authorizes',
    { resourceMetadata: 'none', sameOrigin: true },
    ['/.well-known/oauth-authorization-server'],
  ],
  [
    'nowhere, and its origin authorizes and says nothing',
    { resourceMetadata: 'none', metadata: 'none', sameOrigin: true },
    ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'],
  ],
];

describe('a resource that describes itself', () => {
  it.each(PLACES)('%s', async (_, options, places) => {
    const server = await startProtectedMcp(options);
    const users = new Users(server);
    const failure = await users.refused('ann');
    const asked = server.authorization.http.requests.map(({ path }) => path);
    expect(asked.filter((path) => /oauth-authorization-server|openid/.test(path))).toEqual(places);
    await users.authorize('ann', failure);
    const { tools } = await users.run('ann');
    expect(await tools.execute({ name: 'whoami' })).toMatchObject({ content: 'whoami for ann' });
    server.authorization.grants.expireAccessTokens();
    expect(await tools.execute({ name: 'whoami' })).toMatchObject({ content: 'whoami for ann' });
    const resources = new Set(server.authorization.tokenRequests.map((form) => form.get('resource')));
    expect(resources).toEqual(new Set([options.resourceMetadata === 'none' ? null : server.http.url]));
  });
});
