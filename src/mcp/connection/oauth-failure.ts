import { messageOf, traitOf } from '../../errors';
import { CallbackFailure, isMisreading, RequestFailure } from '../request-failure';

/** Why no token could be got, in words of the authorization server's where it answered as OAuth wants it. */
export function oauthReason(error: unknown): string {
  if (error instanceof RequestFailure) return 'message' in error.details ? error.details.message : error.details.kind;
  const errorCode = traitOf(error, 'errorCode');
  const cause = traitOf(error, 'cause');
  const message = messageOf(error);
  // Its message may quote a token.
  if (isMisreading(error)) return "the authorization server's answer cannot be read";
  if (typeof errorCode === 'string') {
    const [, status, page] = /^HTTP (\d+): Invalid OAuth error response: .*? Raw body: (.*)$/s.exec(message) ?? [];
    if (status !== undefined) return `the authorization server answered HTTP ${status}${page ? `: ${page}` : ''}`;
    return `the authorization server answered ${errorCode}${message === '' ? '' : `: ${message}`}`;
  }
  return cause === undefined || cause === null ? message : `${message} (${messageOf(cause)})`;
}

/** What a request that was refused with this status fails with, because no token could be got. */
export function refusedWithout(error: unknown, status: number, redact: (text: string) => string): Error {
  if (error instanceof CallbackFailure) return error;
  return new RequestFailure({ kind: 'http', status, body: redact(`no token: ${oauthReason(error)}`) });
}
