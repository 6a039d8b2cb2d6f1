import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { untilAborted } from '../../run/abort';
import { Attached } from '../../run/attached';
import { CallbackFailure, callback, RequestFailure } from '../request-failure';
import { challengeOf, type Challenge } from './challenge';
import { oauthReason, refusedWithout } from './oauth-failure';
import { Redaction } from './redaction';
import { discard } from './response-body';
import { SharedWork } from './shared-work';
import { WatchedProvider, type Attempt } from './watched-provider';

/** How many secrets are remembered for redaction; a long-lived provider has new tokens again and again. */
const MOST_SECRETS = 500;

/** A request that changes nothing; many servers guard what is posted and answer a GET with 404 or 405. */
const PING: RequestInit = {
  method: 'POST',
  headers: { accept: 'application/json', 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 'authorization', method: 'ping' }),
};

/** What a header can hold; a token is a part of that. */
const PRINTABLE = /^[\x20-\x7e]+$/;

/** How a connection asks authorization servers. */
export interface OAuthRequests {
  /** A fetch whose requests end with the signal; `learn` is told what may not appear in an error. */
  readonly fetch: (signal: AbortSignal, learn: (secrets: string[]) => void) => FetchLike;
  /** Whether a user may be sent to `http:`. */
  readonly allowsHttp: boolean;
}

interface Asked {
  readonly fetchFn: FetchLike;
  readonly challenge: Challenge | undefined;
  /** The code that is to be exchanged, if there is one. */
  readonly code?: string;
}

interface Flight {
  readonly demand: string;
  readonly work: SharedWork<string | undefined>;
}

const known = new Attached<OAuthClientProvider, Map<string, Authorization>>();

/** Gets tokens by an application's OAuth provider, once for all requests that need one at the same time. */
export class Authorization {
  private readonly secrets = new Redaction(MOST_SECRETS);
  private readonly learn = (secrets: string[]): void => this.secrets.learn(secrets);
  private flight: Flight | undefined;

  private constructor(
    private readonly application: OAuthClientProvider,
    private readonly serverUrl: URL,
  ) {}

  /** The one of this provider and server: connections that share a provider share its tokens. */
  static of(application: OAuthClientProvider, serverUrl: URL): Authorization {
    const byServer = known.of(application, () => new Map());
    const authorization = byServer.get(serverUrl.href) ?? new Authorization(application, serverUrl);
    byServer.set(serverUrl.href, authorization);
    return authorization;
  }

  /**
   * The header of the token that there is.
   * @throws RequestFailure, CallbackFailure
   */
  async header(): Promise<string | undefined> {
    const tokens = await callback(() => this.application.tokens());
    if (!tokens) return undefined;
    this.learn([tokens.access_token]);
    if (PRINTABLE.test(tokens.access_token)) return `Bearer ${tokens.access_token}`;
    // `fetch` would quote it in its error.
    const message = "the authProvider's token is no valid value of a header";
    throw new RequestFailure({ kind: 'unsent', message, isOfCredentials: true });
  }

  /**
   * The header of a token that a challenge makes it get; undefined where another one could not be any better.
   * @throws RequestFailure, CallbackFailure, or the signal's reason
   */
  async obtain(challenge: Challenge, requests: OAuthRequests, signal: AbortSignal): Promise<string | undefined> {
    const demand = challenge.status === 401 ? '401' : `403 ${challenge.scope ?? ''}`;
    for (;;) {
      const { flight } = this;
      if (!flight || flight.work.isDropped) {
        return this.takeOff(demand, (ends) => this.authorize(challenge, requests, ends)).work.join(signal);
      }
      if (flight.demand === demand) return flight.work.join(signal);
      await untilAborted(
        flight.work.result.catch(() => undefined),
        signal,
      );
    }
  }

  /**
   * Exchanges the code that came back for tokens. Another process may have sent the user away, so the server is asked once
   * more where its authorization is described.
   * @throws an Error that says why it could not be done, or CallbackFailure
   */
  async finish(code: string, requests: OAuthRequests, signal: AbortSignal): Promise<void> {
    this.learn([code]);
    const fetchFn = requests.fetch(signal, this.learn);
    try {
      const response = await fetchFn(this.serverUrl, PING);
      discard(response);
      await this.run({ fetchFn, code, challenge: challengeOf(response) }, requests, { signal });
    } catch (error) {
      throw error instanceof CallbackFailure ? error : new Error(this.redact(oauthReason(error)));
    }
  }

  /** Takes secrets out of a text. */
  redact(text: string): string {
    return this.secrets.redact(text);
  }

  private takeOff(demand: string, authorize: (signal: AbortSignal) => Promise<string | undefined>): Flight {
    const flight: Flight = { demand, work: new SharedWork(authorize) };
    this.flight = flight;
    const land = (): void => {
      if (this.flight === flight) this.flight = undefined;
    };
    flight.work.result.then(land, land);
    return flight;
  }

  private async authorize(
    challenge: Challenge,
    requests: OAuthRequests,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { status, scope } = challenge;
    try {
      const stepUp = status === 403 && scope !== undefined ? await this.wider(scope) : undefined;
      if (stepUp === '') return undefined;
      await this.run({ fetchFn: requests.fetch(signal, this.learn), challenge }, requests, { signal, scope: stepUp });
      return await this.header();
    } catch (error) {
      if (error instanceof RequestFailure && error.details.kind === 'authorization') throw error;
      throw refusedWithout(error, status, (text) => this.redact(text));
    }
  }

  /** The scopes that there are and those that are needed; empty where there is a token with all that are needed. */
  private async wider(needed: string): Promise<string> {
    const tokens = await callback(() => this.application.tokens());
    const granted = wordsOf(tokens?.scope);
    const wanted = wordsOf(needed);
    if (wanted.every((scope) => granted.includes(scope))) return '';
    const before = tokens?.scope === undefined ? wordsOf(this.application.clientMetadata.scope) : granted;
    return [...new Set([...before, ...wanted])].join(' ');
  }

  private async run(
    { fetchFn, code, challenge }: Asked,
    { allowsHttp }: OAuthRequests,
    attempt: Pick<Attempt, 'signal' | 'scope'>,
  ): Promise<void> {
    const checkRedirect = (url: URL): void => {
      if (url.protocol === 'https:' || (allowsHttp && url.protocol === 'http:')) return;
      const message = `the user would be sent to ${url.protocol}//${url.host}, which is not https:`;
      throw new RequestFailure({ kind: 'unsent', message, isOfCredentials: true });
    };
    const watched = new WatchedProvider(this.application, { ...attempt, checkRedirect, learn: this.learn });
    const scope = attempt.scope ?? challenge?.scope;
    const options = {
      serverUrl: this.serverUrl,
      fetchFn,
      ...(code !== undefined && { authorizationCode: code }),
      ...(scope !== undefined && { scope }),
      ...(challenge?.resourceMetadataUrl && { resourceMetadataUrl: challenge.resourceMetadataUrl }),
    };
    await auth(watched.provider, options).catch((error: unknown) => {
      throw watched.thrown ?? error;
    });
    if (watched.thrown) throw watched.thrown;
    const { redirect: url } = watched;
    if (url) throw new RequestFailure({ kind: 'authorization', status: challenge?.status ?? 401, url });
  }
}

function wordsOf(scope: string | undefined): string[] {
  return (scope ?? '').split(' ').filter((word) => word !== '');
}
