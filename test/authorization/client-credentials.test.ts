import {
  ClientCredentialsProvider,
  PrivateKeyJwtProvider,
  StaticPrivateKeyJwtProvider,
} from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { rejectionOf } from '../contract/connected';
import { closeRunsAfterEach } from '../contract/started-run';
import { startProtectedMcp, type ProtectedMcp } from '../servers';
import { machine, toolsOf } from './scene';

closeRunsAfterEach();

const WHOAMI = { name: 'whoami' };
const keys = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2_048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
};

/** A client that is known by its public key. */
function keyed({ authorization }: ProtectedMcp, publicKey: KeyObject) {
  const jwk = publicKey.export({ format: 'jwk' });
  const { id } = authorization.clients.add({
    method: 'private_key_jwt',
    publicKey: jwk,
    grants: ['client_credentials'],
  });
  return { clientId: id, scope: 'mcp:read', expectedIssuer: authorization.issuer };
}

const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

describe('client credentials', () => {
  it.each(['client_secret_basic', 'client_secret_post'] as const)(
    'by %s get a token, and a new one',
    async (method) => {
      const server = await startProtectedMcp({ authMethods: [method] });
      const { id, provider } = machine(server, ClientCredentialsProvider, method);
      const tools = await toolsOf(server, provider);
      expect(await tools.execute(WHOAMI)).toMatchObject({ content: `whoami for ${id}` });
      server.authorization.grants.expireAccessTokens();
      expect(await tools.execute(WHOAMI)).toMatchObject({ content: `whoami for ${id}` });
      const forms = server.authorization.tokenRequests;
      expect(forms.map((form) => form.get('grant_type'))).toEqual(['client_credentials', 'client_credentials']);
      expect(forms.map((form) => form.get('resource'))).toEqual([server.http.url, server.http.url]);
    },
  );

  it('that are wrong are a ProviderError which tells the reason and not the secret', async () => {
    const server = await startProtectedMcp();
    const { id, provider } = machine(server, ClientCredentialsProvider);
    server.authorization.clients.add({ id, method: 'client_secret_basic', secret: 'another', grants: [] });
    const failure = await rejectionOf(toolsOf(server, provider));
    expect(failure).toMatchObject({ name: 'ProviderError' });
    expect(String(failure)).toContain('initialize: the server answered HTTP 401 (no token: the authorization server');
    expect(String(failure)).toContain('invalid_client: wrong secret [redacted]');
  });
});

describe('a private key', () => {
  it.each(['RS256', 'ES256'] as const)('signs for a token by %s', async (algorithm) => {
    const server = await startProtectedMcp();
    const { privateKey, publicKey } = keys[algorithm];
    const options = keyed(server, publicKey);
    const tools = await toolsOf(
      server,
      new PrivateKeyJwtProvider({ ...options, privateKey: pem(privateKey), algorithm }),
    );
    expect(await tools.execute(WHOAMI)).toMatchObject({ content: `whoami for ${options.clientId}` });
    server.authorization.grants.expireAccessTokens();
    expect(await tools.execute({ name: 'write' })).toMatchObject({ content: `write for ${options.clientId}` });
  });

  it('of somebody else gets none', async () => {
    const server = await startProtectedMcp();
    const options = keyed(server, keys.ES256.publicKey);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const provider = new PrivateKeyJwtProvider({ ...options, privateKey: pem(privateKey), algorithm: 'ES256' });
    const failure = await rejectionOf(toolsOf(server, provider));
    expect(failure).toMatchObject({ name: 'ProviderError' });
    expect(String(failure)).toContain('invalid_client: the assertion is not signed by the key of the client');
  });

  it('that cannot be read is the error that reading it ends with', async () => {
    const server = await startProtectedMcp();
    const options = keyed(server, keys.ES256.publicKey);
    const provider = new PrivateKeyJwtProvider({ ...options, privateKey: 'no key', algorithm: 'ES256' });
    const failure = await rejectionOf(toolsOf(server, provider));
    expect(failure).toMatchObject({ name: 'TypeError' });
    expect(String(failure)).toContain('PKCS#8');
  });

  it('may be elsewhere, and an assertion be made beforehand', async () => {
    const server = await startProtectedMcp();
    const options = keyed(server, keys.RS256.publicKey);
    const jwtBearerAssertion = assertion(
      { iss: options.clientId, sub: options.clientId, aud: options.expectedIssuer, exp: Date.now() / 1_000 + 60 },
      keys.RS256.privateKey,
    );
    const tools = await toolsOf(server, new StaticPrivateKeyJwtProvider({ ...options, jwtBearerAssertion }));
    expect(await tools.execute(WHOAMI)).toMatchObject({ content: `whoami for ${options.clientId}` });
  });

  it('made an assertion that has expired, or is for another server', async () => {
    const server = await startProtectedMcp();
    const options = keyed(server, keys.RS256.publicKey);
    const claims = { iss: options.clientId, sub: options.clientId, aud: options.expectedIssuer, exp: 1 };
    for (const [changed, reason] of [
      [{}, 'the assertion has expired'],
      [{ aud: 'https://other.example' }, 'the assertion is for https://other.example'],
    ] as const) {
      const jwtBearerAssertion = assertion({ ...claims, ...changed }, keys.RS256.privateKey);
      const failure = await rejectionOf(
        toolsOf(server, new StaticPrivateKeyJwtProvider({ ...options, jwtBearerAssertion })),
      );
      expect(String(failure)).toContain(reason);
      expect(String(failure)).not.toContain(jwtBearerAssertion);
    }
  });
});

function assertion(claims: object, key: KeyObject): string {
  const parts = [{ alg: 'RS256', typ: 'JWT' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const input = parts.join('.');
  return `${input}.${createSign('sha256').update(input).sign(key, 'base64url')}`;
}
