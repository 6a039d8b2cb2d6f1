import { createPublicKey, randomUUID, verify, type JsonWebKey } from 'node:crypto';
import type { HttpExchange } from './http-exchange';
import { isObject, parseJson, type JsonObject } from './rpc';

/** How a client proves who it is. */
export type ClientAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt';

/** A client as the authorization server knows it. */
export interface OAuthClient {
  readonly id: string;
  readonly method: ClientAuthMethod;
  readonly secret?: string;
  /** By which the signatures of its assertions are checked (RS256 or ES256). */
  readonly publicKey?: JsonWebKey;
  readonly redirectUris: readonly string[];
  readonly grants: readonly string[];
}

/** A refusal in the words of RFC 6749. */
export class OAuthRefusal extends Error {
  constructor(
    readonly error: string,
    readonly description: string,
    readonly status = 400,
  ) {
    super(`${error}: ${description}`);
  }
}

/** The clients of an authorization server, and the check of who asks (RFC 6749 section 2.3, RFC 7523). */
export class OAuthClients {
  readonly #known = new Map<string, OAuthClient>();
  readonly #usedAssertions = new Set<string>();

  /** Registers a client beforehand. */
  add(client: Partial<OAuthClient>): OAuthClient {
    const added: OAuthClient = {
      id: `client-${randomUUID()}`,
      method: 'none',
      redirectUris: [],
      grants: ['authorization_code', 'refresh_token'],
      ...client,
    };
    this.#known.set(added.id, added);
    return added;
  }

  get(id: string | null | undefined): OAuthClient | undefined {
    return this.#known.get(id ?? '');
  }

  /** Forgets a client, whose requests are refused from then on. */
  delete(id: string): void {
    this.#known.delete(id);
  }

  /** The client that made the request. */
  authenticate(exchange: HttpExchange, form: URLSearchParams, audiences: readonly string[]): OAuthClient {
    const claim = claimOf(exchange, form);
    const client = this.get(claim.id);
    if (!client) throw refusal(`no client ${claim.id ?? ''}`);
    if (claim.method !== client.method) throw refusal(`${client.id} has to use ${client.method}, not ${claim.method}`);
    if (claim.method === 'private_key_jwt') this.#checkAssertion(form.get('client_assertion') ?? '', client, audiences);
    else if (claim.secret !== client.secret) throw refusal(`wrong secret ${claim.secret ?? ''}`);
    return client;
  }

  #checkAssertion(assertion: string, { id, publicKey }: OAuthClient, audiences: readonly string[]): void {
    const [head = '', payload = '', signature = ''] = assertion.split('.');
    const { alg } = decoded(head);
    const claims = decoded(payload);
    const key = createPublicKey({ key: publicKey ?? {}, format: 'jwk' });
    const isExpected = alg === (key.asymmetricKeyType === 'ec' ? 'ES256' : 'RS256');
    const input = Buffer.from(`${head}.${payload}`);
    const isSigned = verify('sha256', input, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
    if (!isExpected || !isSigned) throw refusal('the assertion is not signed by the key of the client');
    if (claims.iss !== id || claims.sub !== id) throw refusal('the assertion is about somebody else');
    if (!audiences.includes(String(claims.aud))) throw refusal(`the assertion is for ${String(claims.aud)}`);
    if (typeof claims.exp !== 'number' || claims.exp * 1_000 < Date.now()) throw refusal('the assertion has expired');
    if (typeof claims.jti !== 'string') return;
    if (this.#usedAssertions.has(claims.jti)) throw refusal('the assertion was used before');
    this.#usedAssertions.add(claims.jti);
  }
}

interface Claim {
  readonly id: string | undefined;
  readonly method: ClientAuthMethod;
  readonly secret?: string | undefined;
}

function claimOf({ headers }: HttpExchange, form: URLSearchParams): Claim {
  const assertion = form.get('client_assertion');
  if (assertion !== null) {
    const { iss } = decoded(assertion.split('.')[1] ?? '');
    return { id: typeof iss === 'string' ? iss : undefined, method: 'private_key_jwt' };
  }
  const [scheme, credentials = ''] = (headers.authorization ?? '').split(' ');
  if (scheme === 'Basic') {
    const [id = '', ...secret] = Buffer.from(credentials, 'base64').toString().split(':');
    return { id: decodeURIComponent(id), method: 'client_secret_basic', secret: decodeURIComponent(secret.join(':')) };
  }
  const id = form.get('client_id') ?? undefined;
  const secret = form.get('client_secret') ?? undefined;
  return secret === undefined ? { id, method: 'none' } : { id, method: 'client_secret_post', secret };
}

function decoded(part: string): JsonObject {
  const value = parseJson(Buffer.from(part, 'base64url').toString());
  return isObject(value) ? value : {};
}

function refusal(description: string): OAuthRefusal {
  return new OAuthRefusal('invalid_client', description, 401);
}
