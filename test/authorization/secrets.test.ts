import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { container } from 'tsyringe';
import {
  configureMcpToolset,
  McpToolset,
  OnError,
  RunFactory,
  ToolRegistry,
  type HttpConnectionOptions,
  type ToolExecution,
} from 'mcp-toolset';
import { rejectionOf } from '../contract/connected';
import { closeRunsAfterEach } from '../contract/started-run';
import { startProtectedMcp, type HttpExchange, type ProtectedMcp } from '../servers';
import { machine, UserProvider, Users, UserStore } from './scene';

closeRunsAfterEach();

/** Everything that came out of the library, as somebody may print it. */
class Outlet {
  private readonly texts: string[] = [];

  take(what: unknown): void {
    this.texts.push(inspect(what, { depth: 20, showHidden: true }), String(what), JSON.stringify(what) ?? '');
    const { stack, cause } = Object(what) as { stack?: unknown; cause?: unknown };
    if (typeof stack === 'string') this.texts.push(stack);
    if (cause !== undefined) this.take(cause);
  }

  get text(): string {
    return this.texts.join('\n');
  }

  get size(): number {
    return this.texts.length;
  }
}

/** Answers a token request with everything that it was told, in a form that OAuth knows, or does not. */
const echoes: [string, (exchange: HttpExchange) => void][] = [
  [
    'as the description of an error',
    (exchange) => echo(exchange, 400, { error: 'invalid_request', error_description: said(exchange) }),
  ],
  [
    'as the description of a refused client',
    (exchange) => echo(exchange, 401, { error: 'invalid_client', error_description: said(exchange) }),
  ],
  [
    'as the description of a refused grant',
    (exchange) => echo(exchange, 400, { error: 'invalid_grant', error_description: said(exchange) }),
  ],
  ['as a page', (exchange) => exchange.raw(500, { 'content-type': 'text/html' }, `<html>${said(exchange)}</html>`)],
  [
    'as JSON that is none',
    (exchange) => exchange.raw(200, { 'content-type': 'application/json' }, `{${said(exchange)}`),
  ],
  [
    'as a token of another form',
    (exchange) => echo(exchange, 200, { access_token: { value: said(exchange) }, token_type: said(exchange) }),
  ],
];

function echo(exchange: HttpExchange, status: number, value: object): void {
  exchange.raw(status, { 'content-type': 'application/json' }, JSON.stringify(value));
}

const SECRET_FIELDS = ['client_assertion', 'code_verifier', 'code', 'refresh_token', 'client_secret'];

/** All of it, the secrets first: of a long text only the beginning would come out. */
function said({ body, headers }: HttpExchange): string {
  const form = new URLSearchParams(body);
  const secrets = SECRET_FIELDS.map((field) => form.get(field) ?? '');
  const basic = Buffer.from(headers.authorization?.split(' ')[1] ?? '', 'base64').toString();
  return [...secrets, headers.authorization ?? '', basic, body].join(' ').trim();
}

async function everything(
  outlet: Outlet,
  connection: HttpConnectionOptions,
  during: (tools: ToolRegistry) => Promise<ToolExecution[]>,
): Promise<void> {
  const own = container.createChildContainer();
  const write = (...args: unknown[]): void => args.forEach((arg) => outlet.take(arg));
  configureMcpToolset(own, { logger: { debug: write, warn: write, error: write } });
  @McpToolset({ optional: true, connection })
  class Notes {
    @OnError()
    report(error: unknown): void {
      outlet.take(error);
    }
  }
  await using run = own.resolve(RunFactory).start();
  const tools = run.resolve(ToolRegistry);
  await tools.register(Notes);
  for (const execution of await during(tools)) outlet.take(execution);
}

/** One call of each kind, with an access token that has expired before the second. */
async function calls(server: ProtectedMcp, tools: ToolRegistry): Promise<ToolExecution[]> {
  const first = await tools.execute({ name: 'write' });
  server.authorization.grants.expireAccessTokens();
  return [first, await tools.execute({ name: 'whoami' })];
}

/** How much of a secret is too much of it. */
const MOST_OF_A_SECRET = 20;

function expectNoneOf(secrets: Iterable<string>, outlet: Outlet): void {
  const { text } = outlet;
  expect(outlet.size).toBeGreaterThan(3);
  const beginnings = [...secrets].map((secret) => secret.slice(0, MOST_OF_A_SECRET));
  expect(beginnings.filter((secret) => text.includes(secret) || text.includes(encodeURIComponent(secret)))).toEqual([]);
}

describe('what comes out when an authorization server repeats all that it is told', () => {
  it.each(echoes)('%s holds no secret of a user', async (_, answer) => {
    const server = await startProtectedMcp();
    const users = new Users(server);
    const { tools: warm } = await users.authorized('ann');
    const outlet = new Outlet();
    outlet.take(await warm.execute({ name: 'whoami' }));
    const store = users.store('ann');
    server.authorization.answerTokens(answer);
    const connection = { ...server.connection, authProvider: new UserProvider(store) };
    await everything(outlet, connection, (tools) => calls(server, tools));
    const { code } = await server.authorization.consent((await users.refused('bob')).authorizationUrl);
    outlet.take(await rejectionOf(users.complete('bob', code)));
    const fresh = { ...server.connection, authProvider: new UserProvider(new UserStore()) };
    await everything(outlet, fresh, (tools) => calls(server, tools));
    expectNoneOf([...server.authorization.grants.secrets, store.verifier, users.store('bob').verifier], outlet);
  });

  it.each(echoes)('%s holds no secret of a client', async (_, answer) => {
    const server = await startProtectedMcp();
    const outlet = new Outlet();
    const { provider } = machine(server, ClientCredentialsProvider);
    const privateKey = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const { id } = server.authorization.clients.add({
      method: 'private_key_jwt',
      publicKey: privateKey.publicKey.export({ format: 'jwk' }),
      grants: ['client_credentials'],
    });
    const pem = privateKey.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const options = { clientId: id, privateKey: pem, algorithm: 'RS256', scope: 'mcp:read' };
    const expectedIssuer = server.authorization.issuer;
    for (const authProvider of [provider, new PrivateKeyJwtProvider({ ...options, expectedIssuer })]) {
      const connection = { ...server.connection, authProvider };
      server.authorization.answerTokens(answer);
      await everything(outlet, connection, (tools) => calls(server, tools));
      server.authorization.answerTokens();
      await everything(outlet, connection, async (tools) => {
        server.authorization.answerTokens(answer);
        return calls(server, tools);
      });
    }
    const assertions = server.authorization.tokenRequests.map((form) => form.get('client_assertion') ?? '');
    expect(assertions.filter((text) => text !== '').length).toBeGreaterThan(2);
    const lines = pem.split('\n').filter((line) => line.length > 20 && !line.includes('PRIVATE KEY'));
    expectNoneOf([...server.authorization.grants.secrets, ...lines], outlet);
  });
});

describe('what comes out when the resource repeats the token', () => {
  it('holds none', async () => {
    const server = await startProtectedMcp();
    const { provider } = machine(server, ClientCredentialsProvider);
    const outlet = new Outlet();
    const page = (exchange: HttpExchange): void => exchange.raw(500, {}, `no ${exchange.headers.authorization}`);
    await everything(outlet, { ...server.connection, authProvider: provider }, async (tools) => {
      Object.assign(server.http.script.on ?? {}, { '/mcp': page });
      return calls(server, tools);
    });
    expectNoneOf(server.authorization.grants.secrets, outlet);
  });
});
