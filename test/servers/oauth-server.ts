import { randomBytes } from 'node:crypto';
import type { HttpExchange } from './http-exchange';
import { OAuthClients, OAuthRefusal, type ClientAuthMethod, type OAuthClient } from './oauth-clients';
import { OAuthGrants, type TokenAnswer } from './oauth-grants';
import type { HttpHandler } from './polite-http';
import type { RawHttpServer } from './raw-http';
import { isObject } from './rpc';

/** Where an authorization server says what it can do. */
export type ServerMetadataPlace = 'oauth' | 'openid' | 'openid-appended' | 'none';

/** How an authorization server behaves. */
export interface OAuthServerOptions {
  /** Where it describes itself (RFC 8414 section 3, OpenID Connect Discovery section 4). Default `oauth`. */
  metadata?: ServerMetadataPlace;
  /** The path of its issuer, such as `/tenant`. Default none. */
  issuerPath?: string;
  /** The ways in which it lets clients prove who they are. Default all. */
  authMethods?: readonly ClientAuthMethod[];
}

/** What a user's browser brings back to the redirect URL. */
export interface Redirected {
  code: string;
  state: string | null;
}

/**
 * An OAuth 2.1 authorization server at a scripted HTTP server: dynamic registration, authorization code with PKCE,
 * rotating refresh tokens, client credentials. Users consent at once. Made by `startOAuth`.
 */
export class OAuthServer {
  readonly clients = new OAuthClients();
  readonly grants = new OAuthGrants();
  /** The resources that tokens can be asked for. */
  readonly resources = new Set<string>();
  /** Whether the server insists on the parameter `resource`. */
  needsResource = true;
  readonly issuer: string;
  readonly origin: string;
  /** The token endpoint that works. */
  readonly tokenEndpoint = this.#answering((exchange) => this.#token(exchange));
  readonly #options: OAuthServerOptions;

  constructor(
    readonly http: RawHttpServer,
    options: OAuthServerOptions,
  ) {
    this.#options = options;
    this.origin = new URL(http.url).origin;
    this.issuer = `${this.origin}${options.issuerPath ?? ''}`;
    http.script = {
      sessions: false,
      on: {
        GET: (exchange) => this.#get(exchange),
        [this.path('/register')]: this.#answering((exchange) => this.#register(exchange)),
        [this.path('/token')]: this.tokenEndpoint,
        ...this.#metadataHandler(),
      },
    };
  }

  /** Every request to the token endpoint. */
  get tokenRequests(): URLSearchParams[] {
    const requests = this.http.requests.filter(({ path }) => path === this.path('/token'));
    return requests.map(({ body }) => new URLSearchParams(body));
  }

  /** Where an endpoint is: without metadata clients look for it at the root. */
  path(endpoint: string): string {
    return this.#options.metadata === 'none' ? endpoint : `${this.#options.issuerPath ?? ''}/oauth${endpoint}`;
  }

  /** Replaces the token endpoint, by default by one that works. */
  answerTokens(handler: HttpHandler = this.tokenEndpoint): void {
    Object.assign(this.http.script.on ?? {}, { [this.path('/token')]: handler });
  }

  /** Goes where a user is sent, as this user, who consents; returns what comes back to the redirect URL. */
  async consent(url: URL, user = 'user'): Promise<Redirected> {
    const response = await fetch(url, { redirect: 'manual', headers: { 'x-user': user } });
    await response.body?.cancel();
    const { searchParams } = new URL(response.headers.get('location') ?? 'about:blank');
    const code = searchParams.get('code');
    if (code === null) throw new Error(`No code, but HTTP ${response.status}: ${searchParams.get('error')}`);
    return { code, state: searchParams.get('state') };
  }

  #metadataHandler(): Record<string, HttpHandler> {
    const { metadata = 'oauth', issuerPath = '' } = this.#options;
    const path = {
      oauth: `/.well-known/oauth-authorization-server${issuerPath}`,
      openid: `/.well-known/openid-configuration${issuerPath}`,
      'openid-appended': `${issuerPath}/.well-known/openid-configuration`,
      none: undefined,
    }[metadata];
    return path === undefined ? {} : { [path]: (exchange) => json(exchange, this.#metadata()) };
  }

  #metadata(): object {
    const endpoint = (name: string): string => `${this.origin}${this.path(name)}`;
    const all: ClientAuthMethod[] = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'];
    return {
      issuer: this.issuer,
      authorization_endpoint: endpoint('/authorize'),
      token_endpoint: endpoint('/token'),
      registration_endpoint: endpoint('/register'),
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: this.#options.authMethods ?? all,
      // What OpenID discovery demands beyond it.
      jwks_uri: endpoint('/jwks'),
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    };
  }

  #get(exchange: HttpExchange): void {
    const url = new URL(exchange.path, this.origin);
    if (url.pathname !== this.path('/authorize')) return exchange.raw(404);
    const asked = url.searchParams;
    const client = this.clients.get(asked.get('client_id'));
    const redirectUri = asked.get('redirect_uri') ?? '';
    if (!client?.redirectUris.includes(redirectUri)) return exchange.raw(400, {}, 'unknown client or redirect_uri');
    const target = new URL(redirectUri);
    if (asked.has('state')) target.searchParams.set('state', asked.get('state') ?? '');
    try {
      target.searchParams.set('code', this.#code(asked, client, exchange.headers['x-user']?.toString() ?? 'user'));
    } catch (error) {
      target.searchParams.set('error', String(error));
    }
    exchange.raw(302, { location: target.href });
  }

  #code(asked: URLSearchParams, client: OAuthClient, subject: string): string {
    const challenge = asked.get('code_challenge');
    if (asked.get('response_type') !== 'code') throw new OAuthRefusal('unsupported_response_type', 'code only');
    if (asked.get('code_challenge_method') !== 'S256' || challenge === null) {
      throw new OAuthRefusal('invalid_request', 'PKCE with S256 is needed');
    }
    return this.grants.code({
      clientId: client.id,
      subject,
      scopes: scopesOf(asked),
      resource: this.#resource(asked),
      redirectUri: asked.get('redirect_uri') ?? '',
      challenge,
    });
  }

  /** Dynamic client registration (RFC 7591). */
  #register({ message }: HttpExchange): object {
    const asked = isObject(message) ? message : {};
    const method = (asked.token_endpoint_auth_method ?? 'client_secret_basic') as ClientAuthMethod;
    const secret = method === 'none' ? undefined : `secret-${randomBytes(12).toString('base64url')}`;
    if (secret !== undefined) this.grants.secrets.add(secret);
    const redirectUris = asked.redirect_uris as string[];
    const client = this.clients.add({ method, redirectUris, ...(secret !== undefined && { secret }) });
    return { ...asked, client_id: client.id, client_secret: secret, token_endpoint_auth_method: method };
  }

  #token(exchange: HttpExchange): TokenAnswer {
    const form = new URLSearchParams(exchange.body);
    const assertion = form.get('client_assertion');
    if (assertion !== null) this.grants.secrets.add(assertion);
    const client = this.clients.authenticate(exchange, form, [
      this.issuer,
      `${this.issuer}/`,
      `${this.origin}${this.path('/token')}`,
    ]);
    const resource = this.#resource(form);
    const type = form.get('grant_type') ?? '';
    if (!client.grants.includes(type))
      throw new OAuthRefusal('unauthorized_client', `${client.id} may not use ${type}`);
    if (type === 'authorization_code') return this.grants.redeem(form, client);
    if (type === 'refresh_token') return this.grants.refresh(form, client);
    return this.grants.clientToken({ clientId: client.id, subject: client.id, scopes: scopesOf(form), resource });
  }

  #resource(asked: URLSearchParams): string {
    const [only = ''] = this.resources;
    const resource = asked.get('resource');
    if (resource === null && !this.needsResource) return only;
    if (resource !== null && this.resources.has(resource)) return resource;
    throw new OAuthRefusal('invalid_target', `no resource ${resource}`);
  }

  #answering(answer: (exchange: HttpExchange) => object): HttpHandler {
    return (exchange) => {
      try {
        json(exchange, answer(exchange));
      } catch (error) {
        if (!(error instanceof OAuthRefusal)) throw error;
        json(exchange, { error: error.error, error_description: error.description }, error.status);
      }
    };
  }
}

function scopesOf(asked: URLSearchParams): string[] {
  return (asked.get('scope') ?? '').split(' ').filter((scope) => scope !== '');
}

function json(exchange: HttpExchange, value: object, status = 200): void {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  exchange.raw(status, headers, JSON.stringify(value));
}
