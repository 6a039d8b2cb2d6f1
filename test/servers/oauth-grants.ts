import { createHash, randomBytes } from 'node:crypto';
import { OAuthRefusal, type OAuthClient } from './oauth-clients';

/** What somebody may do, and by which client. */
export interface Grant {
  readonly clientId: string;
  /** The user who consented; the client itself where there is no user. */
  readonly subject: string;
  readonly scopes: readonly string[];
  /** The resource (RFC 8707) that the tokens are for. */
  readonly resource: string;
}

interface Code extends Grant {
  readonly redirectUri: string;
  readonly challenge: string;
}

/** What `/token` answers. */
export interface TokenAnswer {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  scope: string;
  refresh_token?: string;
}

const LIFETIME_SECONDS = 3_600;

/** The codes and tokens that an authorization server has given out. */
export class OAuthGrants {
  /** Everything that nobody else may see. */
  readonly secrets = new Set<string>();
  readonly #codes = new Map<string, Code>();
  readonly #refreshTokens = new Map<string, Grant>();
  readonly #accessTokens = new Map<string, Grant & { expiresAt: number }>();

  /** A code that a user's consent is worth. */
  code(code: Code): string {
    const value = this.#secret('code');
    this.#codes.set(value, code);
    return value;
  }

  /** Redeems a code, which can be done once, with the verifier of its challenge (RFC 7636). */
  redeem(form: URLSearchParams, client: OAuthClient): TokenAnswer {
    const value = form.get('code') ?? '';
    const verifier = form.get('code_verifier') ?? '';
    this.secrets.add(verifier);
    const code = this.#codes.get(value);
    if (code?.clientId !== client.id) throw invalidGrant(`no code ${value}`);
    if (createHash('sha256').update(verifier).digest('base64url') !== code.challenge) {
      throw invalidGrant(`wrong verifier ${verifier}`);
    }
    if (form.get('redirect_uri') !== code.redirectUri) throw invalidGrant('another redirect_uri');
    this.#codes.delete(value);
    return this.#answer(code, true);
  }

  /** Exchanges a refresh token, which is no good from then on, for a new pair. */
  refresh(form: URLSearchParams, client: OAuthClient): TokenAnswer {
    const value = form.get('refresh_token') ?? '';
    const grant = this.#refreshTokens.get(value);
    if (grant?.clientId !== client.id) throw invalidGrant(`no refresh token ${value}`);
    this.#refreshTokens.delete(value);
    return this.#answer(grant, true);
  }

  /** A token for a client that acts for itself. */
  clientToken(grant: Grant): TokenAnswer {
    return this.#answer(grant, false);
  }

  /** What an access token is good for; undefined when it is none, or not any more. */
  grantOf(accessToken: string): Grant | undefined {
    const grant = this.#accessTokens.get(accessToken);
    return grant && grant.expiresAt > Date.now() ? grant : undefined;
  }

  /** Lets every access token that was given out expire. */
  expireAccessTokens(): void {
    for (const grant of this.#accessTokens.values()) grant.expiresAt = 0;
  }

  /** Makes every refresh token worthless. */
  revokeRefreshTokens(): void {
    this.#refreshTokens.clear();
  }

  #answer(grant: Grant, canRefresh: boolean): TokenAnswer {
    const accessToken = this.#secret('access');
    this.#accessTokens.set(accessToken, { ...grant, expiresAt: Date.now() + LIFETIME_SECONDS * 1_000 });
    const answer: TokenAnswer = {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: LIFETIME_SECONDS,
      scope: grant.scopes.join(' '),
    };
    if (!canRefresh) return answer;
    const refreshToken = this.#secret('refresh');
    this.#refreshTokens.set(refreshToken, grant);
    return { ...answer, refresh_token: refreshToken };
  }

  #secret(kind: string): string {
    const value = `${kind}-${randomBytes(12).toString('base64url')}`;
    this.secrets.add(value);
    return value;
  }
}

function invalidGrant(description: string): OAuthRefusal {
  return new OAuthRefusal('invalid_grant', description);
}
