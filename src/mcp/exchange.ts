import type { ActiveCall } from './active-calls';
import type { CallbackFailure, RequestFailureDetails } from './request-failure';
import type { RawResult } from './reply';

/** One request on the wire, and how it went. */
export interface Exchange {
  readonly id: string | number;
  readonly method: string;
  /** Whether the library sent it, and not the application by its own client. */
  readonly isOurs: boolean;
  /** The call of a tool that it is, or belongs to. */
  readonly call: ActiveCall | undefined;
  /** What the server answered, to a request of the library's. */
  result: RawResult | undefined;
  /** Set when it failed by what the wire showed. */
  failure: RequestFailureDetails | CallbackFailure | undefined;
}

/** A request of the library's that waits, and the exchange by which it was sent, once it was. */
export interface Claim {
  call: ActiveCall | undefined;
  exchange: Exchange | undefined;
  /** Whether nobody waits for it any more. */
  isGivenUp: boolean;
}

/** Why a request is given up whose reply is of no use any more, and whatever comes of it neither. */
export const NOT_NEEDED = new Error('not needed any more');

/**
 * Where the parameters of a request of the library's hold its claim: they reach the channel through whatever client the
 * application has, at once or later, and JSON knows no symbols.
 */
export const CLAIM = Symbol('mcp-toolset/claim');

/** Parameters of a request of the library's, to which the link that sends it adds. */
export type RequestParams = Record<PropertyKey, unknown>;

/** The exchange of a request; the library's own where it is the first with its claim. */
export function exchangeOf(
  { id, method }: { readonly id: string | number; readonly method: string },
  claim: Claim | undefined,
): Exchange {
  const isOurs = claim !== undefined && claim.exchange === undefined;
  const call = isOurs ? claim.call : undefined;
  const exchange: Exchange = { id, method, isOurs, call, result: undefined, failure: undefined };
  if (isOurs) claim.exchange = exchange;
  return exchange;
}
