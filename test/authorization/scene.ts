import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import {
  AuthorizationRequiredError,
  completeAuthorization,
  McpToolset,
  ToolBinding,
  ToolRegistry,
  type HttpConnectionOptions,
  type Run,
  type ToolsetClass,
  type ToolsetOptions,
} from 'mcp-toolset';
import { randomUUID } from 'node:crypto';
import type { ClientAuthMethod, ProtectedMcp } from '../servers';
import { rejectionOf } from '../contract/connected';
import { registered, startRun } from '../contract/started-run';

/** What an application keeps for one user, as its database would: a provider may be made of it at any time. */
export class UserStore {
  client: OAuthClientInformationMixed | undefined;
  tokens: OAuthTokens | undefined;
  verifier = '';
  state = '';
  readonly redirects: URL[] = [];
}

/** The provider of one user, over what is kept for them. */
export class UserProvider implements OAuthClientProvider {
  readonly redirectUrl = 'https://app.example/callback';
  readonly clientMetadata = { redirect_uris: [this.redirectUrl], client_name: 'tests' };

  constructor(readonly store: UserStore) {}

  state(): string {
    this.store.state = `state-${this.store.redirects.length}`;
    return this.store.state;
  }

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.store.client;
  }

  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.store.client = client;
  }

  tokens(): OAuthTokens | undefined {
    return this.store.tokens;
  }

  saveTokens(tokens: OAuthTokens): void {
    this.store.tokens = tokens;
  }

  redirectToAuthorization(url: URL): void {
    this.store.redirects.push(url);
  }

  saveCodeVerifier(verifier: string): void {
    this.store.verifier = verifier;
  }

  codeVerifier(): string {
    return this.store.verifier;
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (scope === 'all' || scope === 'client') this.store.client = undefined;
    if (scope === 'all' || scope === 'tokens') this.store.tokens = undefined;
  }
}

/** Users of an application, and the toolset by which each reaches a protected server with their own tokens. */
export class Users {
  readonly stores = new Map<string, UserStore>();
  readonly toolset: ToolsetClass;

  constructor(
    readonly server: ProtectedMcp,
    more: Partial<HttpConnectionOptions> = {},
    options: Pick<ToolsetOptions, 'session'> = {},
  ) {
    @McpToolset({
      ...options,
      connection: ({ run }) => ({
        ...server.connection,
        ...more,
        authProvider: new UserProvider(this.store(run?.invocation.actorId ?? '')),
      }),
    })
    class Notes {}
    this.toolset = Notes;
  }

  store(user: string): UserStore {
    const store = this.stores.get(user) ?? new UserStore();
    this.stores.set(user, store);
    return store;
  }

  /** A run of this user in which the toolset is registered. */
  async run(user: string): Promise<{ run: Run; tools: ToolRegistry }> {
    const run = startRun({ actorId: user });
    const tools = run.resolve(ToolRegistry);
    await tools.register(this.toolset);
    return { run, tools };
  }

  /** What this user has to do first. */
  async refused(user: string): Promise<AuthorizationRequiredError> {
    return required(await rejectionOf(this.run(user)));
  }

  /** Sends the user where they have to go, and finishes with the code that comes back. */
  async authorize(user: string, { authorizationUrl }: AuthorizationRequiredError): Promise<void> {
    const { code, state } = await this.server.authorization.consent(authorizationUrl, user);
    expect(state).toBe(this.store(user).state);
    await this.complete(user, code);
  }

  async complete(user: string, code: string): Promise<void> {
    await completeAuthorization(this.toolset, startRun({ actorId: user }).resolve(ToolBinding), code);
  }

  /** A run of a user who has authorized before. */
  async authorized(user: string): Promise<{ run: Run; tools: ToolRegistry }> {
    await this.authorize(user, await this.refused(user));
    return this.run(user);
  }
}

/** The error, which has to be an AuthorizationRequiredError. */
export function required(error: unknown): AuthorizationRequiredError {
  if (!AuthorizationRequiredError.is(error)) throw error;
  return error;
}

/** How the SDK's provider for client credentials is made. */
type MachineProvider = new (options: {
  clientId: string;
  clientSecret: string;
  scope: string;
  expectedIssuer: string;
}) => OAuthClientProvider;

/** A client with a secret that acts for itself. */
export function machine(
  { authorization }: ProtectedMcp,
  Provider: MachineProvider,
  method: ClientAuthMethod = 'client_secret_basic',
): { id: string; provider: OAuthClientProvider } {
  const secret = `secret-${randomUUID()}`;
  const { id } = authorization.clients.add({ method, secret, grants: ['client_credentials'] });
  authorization.grants.secrets.add(secret);
  const expectedIssuer = authorization.issuer;
  return { id, provider: new Provider({ clientId: id, clientSecret: secret, scope: 'mcp:read', expectedIssuer }) };
}

/** The registry of a run in which the tools of the server are registered. */
export function toolsOf(
  { connection }: { connection: HttpConnectionOptions },
  authProvider: OAuthClientProvider,
): Promise<ToolRegistry> {
  @McpToolset({ connection: { ...connection, authProvider } })
  class Notes {}
  return registered(Notes);
}
