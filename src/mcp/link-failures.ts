import { AuthorizationRequiredError, ConfigurationError, messageOf, ProtocolError, ProviderError } from '../errors';
import { describe, outcomeOf, translated, type RequestSubject } from './failures';
import type { Link } from './link';
import { isAlreadyStarted } from './official-client';
import { RequestFailure } from './request-failure';

/** The error of a server that was too slow; `stray` says what else came of it. */
export function tooSlow(subject: RequestSubject, timeout: number, stray = ''): ProviderError {
  return new ProviderError(
    `${describe(subject)}: no answer within ${timeout} ms${stray}. Raise "timeout" if the server needs longer.`,
    { toolset: subject.toolset, outcome: outcomeOf(subject, 'unknown') },
  );
}

/** What a refused request fails with when there is no new session; what a callback threw stays as it is. */
export function notReopened(error: unknown, subject: RequestSubject, why: string): unknown {
  const { toolset } = subject;
  const isDeclaration = ConfigurationError.is(error);
  if (!isDeclaration && !ProviderError.is(error) && !ProtocolError.is(error)) return error;
  const message = `Toolset ${toolset}: ${why}, and a new one could not be opened: ${error.message}`;
  const options = { toolset, cause: error, outcome: outcomeOf(subject, 'refused') };
  if (AuthorizationRequiredError.is(error)) {
    return new AuthorizationRequiredError(message, { ...options, authorizationUrl: error.authorizationUrl });
  }
  return new (isDeclaration ? ConfigurationError : ProviderError)(message, options);
}

/**
 * What is wrong with the session of a request that the server refused, where a new one may do better; `isInherited` says
 * whether it was opened by an earlier run, with the credentials of that.
 */
export function faultOfSession(error: unknown, link: Link, isInherited: boolean): string | undefined {
  // Only what the transport itself saw: the class of an error does not tell that the server refused the request.
  if (!(error instanceof RequestFailure) || !('status' in error.details)) return undefined;
  const { status } = error.details;
  if (status === 404 && link.hasSessionId) return 'the server has forgotten the session';
  if (status === 401 && isInherited)
    return 'the server refuses the credentials of the session, which an earlier run opened';
  return undefined;
}

/** What the application is told of a request that failed. */
export function explained(error: unknown, subject: RequestSubject, link: Link): unknown {
  if (!(error instanceof RequestFailure)) return error;
  const { details } = error;
  // Only the transport's own refusal: what the server said may have the same words in it.
  if (subject.method === 'initialize' && details.kind === 'closed' && isAlreadyStarted(details.cause)) {
    return new ConfigurationError(
      `Toolset ${subject.toolset}: the transport or client was used before (${messageOf(details.cause)}); the client ` +
        'factory must return new ones for every run.',
      { toolset: subject.toolset, cause: details.cause },
    );
  }
  return translated(details, subject, link);
}
