import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { startRawHttp, tool, type HttpExchange, type RawHttpServer } from '../servers';

/** A client that was registered and authorized before, and can refresh its token. */
export class Provider implements OAuthClientProvider {
  readonly saved: OAuthTokens[] = [];
  readonly redirects: URL[] = [];
  readonly redirectUrl = 'http://127.0.0.1/callback';
  readonly clientMetadata = { redirect_uris: [this.redirectUrl] };

  private verifier = 'verifier';
  private current: OAuthTokens | undefined;

  /** One that was authorized by this server before, and has the token that it got there. */
  constructor(authorization?: RawHttpServer) {
    if (!authorization) return;
    const issuer = `${new URL(authorization.url).origin}/`;
    this.current = { access_token: 'old-token', token_type: 'Bearer', refresh_token: 'refresh-token', issuer };
  }

  clientInformation(): { client_id: string; client_secret: string } {
    return { client_id: 'client', client_secret: 'client-secret' };
  }

  tokens(): OAuthTokens | undefined {
    return this.current;
  }

  saveTokens(tokens: OAuthTokens): void {
    this.saved.push(tokens);
    this.current = tokens;
  }

  redirectToAuthorization(url: URL): void {
    this.redirects.push(url);
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.verifier;
  }
}

/** An authorization server at an origin of its own, whose tokens `answer` gives out. */
export async function authorizationServer(answer: (exchange: HttpExchange) => unknown): Promise<RawHttpServer> {
  const server = await startRawHttp();
  const { origin } = new URL(server.url);
  const json = (exchange: HttpExchange, value: unknown): void =>
    exchange.raw(200, { 'content-type': 'application/json' }, JSON.stringify(value));
  const endpoints = { authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token` };
  server.script.on = {
    '/.well-known/oauth-authorization-server': (exchange) =>
      json(exchange, { issuer: origin, ...endpoints, response_types_supported: ['code'] }),
    '/token': answer,
  };
  return server;
}

/** A resource server that demands `Bearer new-token` from requests of this method, or from whatever is posted. */
export async function resourceServer(authorization: RawHttpServer, guarded?: string): Promise<RawHttpServer> {
  const server = await startRawHttp({ tools: [tool('a')] });
  const { origin } = new URL(server.url);
  const challenge = {
    'www-authenticate': `Bearer resource_metadata="${origin}/metadata"`,
    'content-type': 'text/html',
  };
  const metadata = { resource: server.url, authorization_servers: [new URL(authorization.url).origin] };
  const guard = (exchange: HttpExchange): void | Promise<void> =>
    exchange.headers.authorization === 'Bearer new-token'
      ? exchange.polite()
      : exchange.raw(401, challenge, '<html>Log in</html>');
  const methods = guarded === undefined ? ['initialize', 'tools/list', 'tools/call', 'ping'] : [guarded];
  server.script.on = {
    ...Object.fromEntries(methods.map((method) => [method, guard])),
    '/metadata': (exchange) => exchange.raw(200, { 'content-type': 'application/json' }, JSON.stringify(metadata)),
  };
  return server;
}

/** Answers with the token that the resource server demands. */
export const refreshed = (exchange: HttpExchange): void =>
  exchange.raw(
    200,
    { 'content-type': 'application/json' },
    JSON.stringify({ access_token: 'new-token', token_type: 'Bearer' }),
  );
