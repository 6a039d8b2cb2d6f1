import type { ActiveCall } from './active-calls';
import type { JSONRPCMessage } from './official-client';
import type { OpenExchanges } from './open-exchanges';

/** The request on whose stream a message came: its call, where it is one that waited for its reply when that came. */
interface MessageOrigin {
  readonly call: ActiveCall | undefined;
}

/** What belongs to which request, told when it comes: the client gives it to its handler some turns later. */
export class MessageOrigins {
  /** By the parameters, the only part of a message that is the same object for its handler. */
  private readonly byParams = new WeakMap<object, MessageOrigin>();

  constructor(private readonly open: OpenExchanges) {}

  /** Takes note of a message that comes on the stream of a request, if it does, while that may still wait. */
  note(message: JSONRPCMessage & { params?: object | undefined }, requestId: string | number | undefined): void {
    if (requestId === undefined) return;
    // Without parameters, as `roots/list` comes, it has some from here on.
    this.byParams.set((message.params ??= {}), { call: this.open.get(requestId)?.call });
  }

  /** The origin of a message, by its parameters; undefined where it came on no request's stream. */
  of(params: object): MessageOrigin | undefined {
    return this.byParams.get(params);
  }
}
