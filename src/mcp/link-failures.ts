import { AuthorizationRequiredError, ConfigurationError, messageOf, ProtocolError, ProviderError } from '../errors';
import { describe, outcomeOf, translated, type RequestSubject } from './failures';
import type { Link } from './link';
import { isAlreadyStarted } from './official-client';
import { RequestFailure } from './request-failure';

/** The error of a server that was too slow. */
export function tooSlow(subject: RequestSubject, timeout: number): ProviderError {
  return new ProviderError(
    `${describe(subject)}: no answer within ${timeout} ms. Raise "timeout" if the server needs longer.`,
    { toolset: subject.toolset, outcome: outcomeOf(subject, 'unknown') },
  );
}

/** What a refused request fails with when there is no new session; what a callback threw stays as it is. */
export function notReopened(error: unknown, subject: RequestSubject): unknown {
  const { toolset } = subject;
  const isDeclaration = ConfigurationError.is(error);
  if (!isDeclaration && !ProviderError.is(error) && !ProtocolError.is(error)) return error;
  const message = `Toolset ${toolset}: the server has forgotten the session, and a new one could not be opened: ${error.message}`;
  const options = { toolset, cause: error, outcome: outcomeOf(subject, 'refused') };
  if (AuthorizationRequiredError.is(error)) {
    return new AuthorizationRequiredError(message, { ...options, authorizationUrl: error.authorizationUrl });
  }
  return new (isDeclaration ? ConfigurationError : ProviderError)(message, options);
}

/** Whether a request failed because the server has forgotten the session. */
export function isForgotten(error: unknown, link: Link): boolean {
  if (!(error instanceof RequestFailure) || !link.hasSessionId) return false;
  return error.details.kind === 'http' && error.details.status === 404;
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
