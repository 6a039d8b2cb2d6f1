import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { NEVER } from '../../run/abort';
import type { Authorization, OAuthRequests } from './authorization';
import { challengeOf } from './challenge';
import type { ExchangeFetch } from './exchange';
import { discard } from './response-body';

/**
 * A fetch whose requests carry the provider's token. What a server refuses for its token has not been taken, so it goes out
 * again with another one: at most once with one that has come meanwhile, once where it was no good, and once where it may
 * too little.
 */
export function authorizedFetch(send: FetchLike, authorization: Authorization, oauth: OAuthRequests): ExchangeFetch {
  return async (url, init = {}, exchange) => {
    const headers = new Headers(init.headers);
    const answered = new Set<number>();
    let mayTake = true;
    let token = await authorization.header();
    for (;;) {
      if (token !== undefined) headers.set('authorization', token);
      const response = await send(url, { ...init, headers });
      // Taking leave is worth no authorization.
      const challenge = init.method === 'DELETE' ? undefined : challengeOf(response);
      if (!challenge || answered.has(challenge.status)) return response;
      if (exchange) exchange.isRefused = true;
      try {
        const current = mayTake ? await authorization.header() : token;
        const isTaken = current !== undefined && current !== token;
        const next = isTaken ? current : await authorization.obtain(challenge, oauth, init.signal ?? NEVER);
        if (isTaken) mayTake = false;
        else answered.add(challenge.status);
        if (next === undefined) return response;
        token = next;
        if (exchange) exchange.isRefused = false;
        discard(response);
      } catch (error) {
        discard(response);
        throw error;
      }
    }
  };
}
