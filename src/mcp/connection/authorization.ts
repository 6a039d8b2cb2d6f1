import { auth, extractWWWAuthenticateParams, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Turnstile } from '../../run/turnstile';

/** A request that changes nothing; many servers guard what is posted and answer a GET with 404 or 405. */
const PING: RequestInit = {
  method: 'POST',
  headers: { accept: 'application/json', 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 'authorization', method: 'ping' }),
};

/** An OAuth provider of the application's, watched for what one connection has to know of its authorization. */
export class Authorization {
  /** The provider that the SDK is given. */
  readonly provider: OAuthClientProvider;
  private redirect: URL | undefined;
  private readonly turns = new Turnstile();

  constructor(private readonly application: OAuthClientProvider) {
    const redirectToAuthorization = (url: URL): Promise<void> => this.redirected(url);
    this.provider = new Proxy(application, {
      get: (target, key) => {
        if (key === 'redirectToAuthorization') return redirectToAuthorization;
        const value = (target as unknown as Record<string | symbol, unknown>)[key];
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }

  /**
   * Waits until nobody else authorizes. Returns the header of a token that has come meanwhile, or the function by which the
   * turn to authorize ends.
   * @throws the signal's reason
   */
  async begin(used: string | null, signal: AbortSignal): Promise<{ header: string } | { end: () => void }> {
    const end = await this.turns.enter(signal);
    try {
      const tokens = await this.application.tokens();
      const header = tokens && `Bearer ${tokens.access_token}`;
      if (header === undefined || header === used) return { end };
      end();
      return { header };
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Where the user is to be sent, if the SDK wanted that since it was last asked. */
  takeRedirect(): URL | undefined {
    const { redirect } = this;
    this.redirect = undefined;
    return redirect;
  }

  /**
   * Exchanges the code that came back for tokens. Another process may have sent the user away, so the server is asked once
   * more where its authorization is described.
   */
  async finish(code: string, serverUrl: URL, fetchFn: FetchLike): Promise<void> {
    const response = await fetchFn(serverUrl, PING);
    response.body?.cancel().catch(() => undefined);
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    const result = await auth(this.provider, {
      serverUrl,
      authorizationCode: code,
      fetchFn,
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      ...(scope !== undefined && { scope }),
    });
    if (result !== 'AUTHORIZED') throw new Error('the user has to authorize again');
  }

  private async redirected(url: URL): Promise<void> {
    this.redirect = url;
    await this.application.redirectToAuthorization(url);
  }
}
