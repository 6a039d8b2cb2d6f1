import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { CallbackFailure } from '../request-failure';

/** What an attempt to authorize changes about the application's provider. */
export interface Attempt {
  /** The scopes that the token has to have, where the one that there is has too few. */
  readonly scope?: string | undefined;
  /** Ends the attempt: the provider is not told anything after that. */
  readonly signal: AbortSignal;
  /** @throws where the user may not be sent there */
  readonly checkRedirect: (url: URL) => void;
  /** Is told what may not appear in an error. */
  readonly learn: (secrets: string[]) => void;
}

type Fields = Readonly<Record<string | symbol, unknown>>;
type Invalidated = Parameters<NonNullable<OAuthClientProvider['invalidateCredentials']>>[0];

const SECRET_FIELDS = ['access_token', 'refresh_token', 'id_token', 'client_secret', 'registration_access_token'];

/** The application's OAuth provider as the SDK is given it for one attempt to authorize, and what came of it. */
export class WatchedProvider {
  /** What the SDK is given. */
  readonly provider: OAuthClientProvider;
  /** Where the user is to be sent, if anywhere. */
  redirect: URL | undefined;
  /** What a method of the application's threw: the SDK passes over some of it. */
  thrown: CallbackFailure | undefined;
  private seen: string | undefined;

  constructor(
    private readonly application: OAuthClientProvider,
    private readonly attempt: Attempt,
  ) {
    const replaced = {
      tokens: () => this.tokens(),
      redirectToAuthorization: (url: URL) => this.redirectTo(url),
      invalidateCredentials: (what: Invalidated) => this.invalidate(what),
    };
    this.provider = new Proxy(application, { get: (_target, key) => this.member(key, replaced) });
  }

  private member(key: string | symbol, replaced: Fields): unknown {
    if (Object.hasOwn(replaced, key)) return replaced[key];
    const value = (this.application as unknown as Fields)[key];
    if (key === 'clientMetadata' && this.attempt.scope !== undefined) {
      return { ...(value as object), scope: this.attempt.scope };
    }
    if (typeof value !== 'function') return value;
    const method = value as (...args: unknown[]) => unknown;
    return (...args: unknown[]) => this.call(() => method.apply(this.application, args), key, args);
  }

  /** Without its refresh token where more scopes are needed: what is got by it has the same as before. */
  private async tokens(): Promise<OAuthTokens | undefined> {
    const tokens = await this.call(() => this.application.tokens(), 'tokens');
    this.seen = tokens?.refresh_token;
    return tokens && this.attempt.scope !== undefined ? { ...tokens, refresh_token: undefined } : tokens;
  }

  private async redirectTo(url: URL): Promise<void> {
    this.attempt.checkRedirect(url);
    this.redirect = url;
    await this.call(() => this.application.redirectToAuthorization(url), 'redirectToAuthorization');
  }

  /** Tokens that somebody else has got meanwhile, or that a wrong code says nothing about, are not those refused. */
  private async invalidate(what: Invalidated): Promise<void> {
    if (what === 'tokens') {
      const current = await this.call(() => this.application.tokens(), 'tokens');
      if (current?.refresh_token !== this.seen) return;
    }
    await this.call(() => this.application.invalidateCredentials?.(what), 'invalidateCredentials');
  }

  private async call<T>(call: () => T | PromiseLike<T>, key: string | symbol, args: unknown[] = []): Promise<T> {
    this.attempt.signal.throwIfAborted();
    if (this.thrown) throw this.thrown;
    try {
      this.learn(args);
      const result = await call();
      this.learn([result]);
      return result;
    } catch (error) {
      const failure = new CallbackFailure(error);
      // The SDK calls this one beyond its own contract, and does not mind.
      if (key !== 'saveClientInformation') this.thrown ??= failure;
      throw failure;
    }
  }

  private learn(values: unknown[]): void {
    const fields = values.flatMap((value) => SECRET_FIELDS.map((field) => (Object(value) as Fields)[field]));
    this.attempt.learn(fields.filter((field) => typeof field === 'string'));
  }
}
