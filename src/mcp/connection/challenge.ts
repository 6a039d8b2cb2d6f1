import { extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';

/** What a server demands of a request that it has refused (RFC 6750 section 3, RFC 9728 section 5.1). */
export interface Challenge {
  /** 401: a token; 403: a token with more scopes. */
  readonly status: 401 | 403;
  /** The scopes that are needed, as far as it says so. */
  readonly scope: string | undefined;
  /** Where the server describes who authorizes for it, if it says so. */
  readonly resourceMetadataUrl: URL | undefined;
}

/** The demand for (other) credentials that a response is; undefined for every other. */
export function challengeOf(response: Response): Challenge | undefined {
  const { status } = response;
  if (status !== 401 && status !== 403) return undefined;
  const { error, scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  if (status === 403 && error !== 'insufficient_scope') return undefined;
  return { status, scope, resourceMetadataUrl };
}
