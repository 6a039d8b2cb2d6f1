import { messageOf } from '../errors';
import { nextTurn } from '../run/next-turn';
import { boundedWait } from './bounded-wait';
import { hooksOf } from './official-client';
import type {
  AnyTransport,
  JSONRPCMessage,
  MessageExtraInfo,
  Transport,
  TransportHooks,
  TransportSendOptions,
} from './official-client';
import { cancelNotice, isCancelNotice, isNotification, type Notification } from './notices';
import { MessageOrigins } from './message-origins';
import { OpenExchanges } from './open-exchanges';
import { readReply } from './reply';
import { CLAIM, exchangeOf, type Claim, type Exchange } from './exchange';
import { CallbackFailure, isMisreading, type RequestFailureDetails } from './request-failure';
import { sendFailure } from './send-failure';
import { replyFor } from './stand-in-reply';

/** Milliseconds that the server has to hear that its session ends, and that a transport has to close. */
const FAREWELL_BOUND = 2_000;
const CLOSING_BOUND = 10_000;

/** Whose channel it is. */
interface ChannelOwner {
  /** Whether a notification is for the client. */
  passes(notification: Notification): boolean;
  /** Has the client forget a request of the library's; false where it takes a message for that. */
  settles(exchange: Exchange): boolean;
  /** There is no connection any more. */
  ended(): void;
}

/**
 * Stands between the official client and its transport: it knows how each request ended, lets the client forget a
 * request that could not be sent, and lets a cancel notice pass at most once and only where the protocol allows it.
 */
export class Channel implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void;

  private readonly open = new OpenExchanges();
  /** On whose streams the server's requests and notifications came. */
  readonly origins = new MessageOrigins(this.open);
  private readonly notices = new Set<Promise<void>>();
  private leaving: Promise<void> | undefined;
  private closing: Promise<void> | undefined;
  private ended: Promise<void> | undefined;
  /** How connecting went, once it has begun. */
  initialize: Exchange | undefined;
  /** What closing the transport threw. The client does not wait for it, so it may not be thrown there. */
  closeFailure: { readonly error: unknown } | undefined;
  private readonly hooks: TransportHooks;

  constructor(
    private readonly transport: AnyTransport,
    private readonly owner: ChannelOwner,
  ) {
    this.hooks = hooksOf(transport);
  }

  get sessionId(): string | undefined {
    return this.transport.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.transport.setProtocolVersion?.(version);
  }

  start(): Promise<void> {
    const { onmessage, onclose, onerror } = this.transport;
    // What the application's own listeners throw loses no reply; one for messages throws into the transport, as without us.
    this.transport.onmessage = (message, extra) => {
      try {
        onmessage?.(message, extra);
      } finally {
        this.receive(message, extra);
      }
    };
    this.transport.onclose = () => {
      this.guarded(() => onclose?.());
      void this.end();
    };
    this.transport.onerror = (error) => {
      if (isMisreading(error)) this.hooks.misread?.();
      this.guarded(() => onerror?.(error));
      this.report(error);
    };
    this.hooks.onlostreply = (id, failure) => this.lose(id, failure);
    return this.transport.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (isCancelNotice(message)) return this.sendNotice(message.params.requestId, options);
    if (!('method' in message && 'id' in message)) return this.transport.send(message, options);
    const claim = (message.params as { readonly [CLAIM]?: Claim } | undefined)?.[CLAIM];
    const exchange = exchangeOf(message, claim);
    this.open.add(exchange);
    if (exchange.method === 'initialize') this.initialize = exchange;
    if (claim?.isGivenUp) return this.lose(exchange.id, { kind: 'unsent', message: 'it was given up' });
    if (this.ended) {
      return this.lose(exchange.id, { kind: 'unsent', message: messageOf(this.endReason()), isOver: true });
    }
    try {
      await this.transport.send(message, options);
    } catch (error) {
      this.lose(exchange.id, error instanceof CallbackFailure ? error : sendFailure(error));
    }
  }

  /**
   * Lets the client forget a request of the library's that nobody waits for any more, and tells the server; one that has
   * not come yet is not sent.
   */
  giveUp(claim: Claim): void {
    claim.isGivenUp = true;
    const { exchange } = claim;
    if (!exchange || !this.open.has(exchange)) return;
    void this.sendNotice(exchange.id);
    this.settle(exchange);
  }

  /** Ends the session on the server where the transport can, once, in bounded time. Never rejects. */
  farewell(): Promise<void> {
    this.leaving ??= boundedWait(FAREWELL_BOUND, this.takeLeave()).catch(() => undefined);
    return this.leaving;
  }

  /** Says farewell, then closes the transport, once. Never rejects. */
  close(): Promise<void> {
    this.closing ??= this.closeTransport();
    return this.closing;
  }

  private async closeTransport(): Promise<void> {
    try {
      await this.farewell();
      await boundedWait(CLOSING_BOUND, this.transport.close());
    } catch (error) {
      this.closeFailure = { error };
    }
    await this.end();
  }

  private async takeLeave(): Promise<void> {
    // In the order in which they were sent; a server that answers none still hears of the end.
    await boundedWait(FAREWELL_BOUND / 2, Promise.all(this.notices)).catch(() => undefined);
    await this.transport.terminateSession?.();
  }

  /** Whether it ends, or has ended. */
  get isOver(): boolean {
    return this.ended !== undefined || this.closing !== undefined || this.hooks.isEnding === true;
  }

  /** Why no more replies can come. */
  endReason(): RequestFailureDetails {
    return this.hooks.endReason?.() ?? { kind: 'closed', message: 'the server closed the connection' };
  }

  private receive(message: JSONRPCMessage, extra?: MessageExtraInfo): void {
    if (isNotification(message) && !this.owner.passes(message)) return;
    if ('method' in message) {
      this.origins.note(message, this.hooks.receivingId);
      return this.onmessage?.(message, extra);
    }
    const exchange = this.open.take(message.id);
    if (exchange) this.hooks.settled?.(exchange.id, true);
    if (exchange) Object.assign(exchange, readReply(message));
    const take = (): void => (exchange ? this.settle(exchange, message, extra) : this.onmessage?.(message, extra));
    // In turn, and a turn later, as the client takes notifications: what came before a reply is told before it.
    void Promise.resolve().then(() => this.guarded(take));
  }

  /** The client forgets a request when a reply comes, so one whose reply cannot come is given one. */
  private lose(id: string | number, failure: RequestFailureDetails | CallbackFailure): void {
    const exchange = this.open.take(id);
    if (!exchange) return;
    this.hooks.settled?.(id, false);
    exchange.failure = failure;
    this.settle(exchange);
  }

  private settle(exchange: Exchange, message?: JSONRPCMessage, extra?: MessageExtraInfo): void {
    if (!exchange.isOurs || !this.owner.settles(exchange)) this.onmessage?.(replyFor(exchange, message), extra);
  }

  private async sendNotice(requestId: string | number, options?: TransportSendOptions): Promise<void> {
    const exchange = this.open.take(requestId);
    if (!exchange || this.ended) return;
    const sent = this.announced(exchange, options).finally(() => this.notices.delete(sent));
    this.notices.add(sent);
    await sent;
  }

  /** Tells the server that a request was given up (MCP specification, Cancellation), which `initialize` may not be. */
  private async announced({ id, method }: Exchange, options?: TransportSendOptions): Promise<void> {
    const sending = method === 'initialize' ? undefined : this.sendQuietly(cancelNotice(id), options);
    // Not before: the transport forgets here that the server has refused the request, which then needs no notice. And
    // without waiting for the notice, which may need the connection that the request has.
    this.hooks.settled?.(id, false);
    await sending;
  }

  private async sendQuietly(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    try {
      await this.transport.send(message, options);
    } catch (error) {
      this.report(error);
    }
  }

  private end(): Promise<void> {
    this.ended ??= this.endNow();
    return this.ended;
  }

  private async endNow(): Promise<void> {
    const reason = this.endReason();
    for (const id of this.open.ids) this.lose(id, reason);
    // What waits for a reply learns how its own request went, and only then that there is no connection any more.
    await nextTurn();
    this.owner.ended();
    this.guarded(() => this.onclose?.());
  }

  /** Calls what may be the application's, and tells its listener for errors how that failed. */
  private guarded(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.report(error);
    }
  }

  /** Tells the client of a failure that nobody waits for; what the application's own listener throws goes nowhere. */
  private report(error: unknown): void {
    try {
      this.onerror?.(error as Error);
    } catch {
      // There is nobody left to be told.
    }
  }
}
