import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { HttpConnectionOptions } from '../../toolset/client-source';
import type { OAuthRequests } from './authorization';
import { bounded } from './bodies';

const SECRET_FIELDS = ['code', 'code_verifier', 'refresh_token', 'client_secret', 'client_assertion', 'assertion'];

/** How a connection asks authorization servers: by its own fetch, with answers of at most `maxBytes` bytes. */
export function oauthRequests(
  send: FetchLike,
  { allowInsecureHttp = false }: HttpConnectionOptions,
  maxBytes: number,
): OAuthRequests {
  return {
    allowsHttp: allowInsecureHttp,
    fetch:
      (signal, learn) =>
      async (url, init = {}) => {
        learn(secretsOf(init));
        return bounded(await send(url, { ...init, signal }), maxBytes);
      },
  };
}

/** What a request to an authorization server holds that nobody else may see. */
function secretsOf({ headers, body }: RequestInit): string[] {
  const fields = body instanceof URLSearchParams || typeof body === 'string' ? new URLSearchParams(body) : undefined;
  const secrets = SECRET_FIELDS.map((field) => fields?.get(field) ?? '');
  return [...secrets, new Headers(headers).get('authorization') ?? ''];
}
