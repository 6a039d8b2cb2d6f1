import type { z } from 'zod/v4';
import { messageOf } from '../errors';
import { LONGEST_TIMER } from '../options';
import { Interruption, untilAborted, type Abortable } from '../run/abort';
import type { UnconnectedClient } from '../toolset/client-source';
import type { ActiveCalls, ActiveCall } from './active-calls';
import { Channel } from './channel';
import { CLAIM, NOT_NEEDED, type Claim, type Exchange, type RequestParams } from './exchange';
import { anyResult, type RawResult } from './reply';
import {
  asOfficial,
  hooksOf,
  capabilitiesOf,
  handlesMethod,
  hearsNotification,
  isStdioTransport,
  requestsAsSdk,
  settleRequest,
  startIdsAtRandom,
  type AnyTransport,
  type Client,
} from './official-client';
import { relatedTask, type Notification } from './notices';
import { CallbackFailure, RequestFailure } from './request-failure';
import { sendFailure } from './send-failure';

/** One request. */
export interface LinkRequest {
  readonly method: string;
  /** To which the link that sends it adds; where they are sent again, it replaces what it added. */
  readonly params: RequestParams;
  /** Gives the request up when it ends, and tells the server. */
  readonly until: Abortable;
  /** By which the server tells of its progress, if it is asked to. */
  readonly progressToken?: string | undefined;
  /** The call of a tool that the request is, or belongs to. */
  readonly call?: ActiveCall | undefined;
}

/** One official client, connected once: connecting, requests and closing, with failures told by what the wire showed. */
export class Link {
  /** Whether the server is a child process, reached by the SDK's stdio transport. */
  readonly isStdio: boolean;

  private readonly client: Client;
  private readonly transport: AnyTransport;
  private readonly channel: Channel;
  private readonly end = new Interruption();
  private readonly needsSignal: boolean;
  private closing: Promise<void> | undefined;
  private inFlight = 0;
  private hasUnanswered = false;

  /** `calls` are those of its session, which may have had other links; `onIdle` is called when no request waits any more. */
  constructor(
    parts: UnconnectedClient,
    readonly calls: ActiveCalls,
    private readonly onIdle: () => unknown,
  ) {
    const { client, transport } = asOfficial(parts);
    this.client = client;
    this.transport = transport;
    startIdsAtRandom(client);
    this.needsSignal = !requestsAsSdk(client);
    this.channel = new Channel(transport, {
      passes: (notification) => this.isForClient(notification),
      // Only where nothing stands between them that may give a request another id.
      settles: ({ id, result }) =>
        !this.needsSignal && client.transport === this.channel && settleRequest(client, id, result !== undefined),
      ended: () => this.end.end(),
    });
    this.isStdio = isStdioTransport(transport);
  }

  /** Ends when the connection has ended, whoever ended it. */
  get ended(): Abortable {
    return this.end;
  }

  /**
   * Whether somebody else may use it: it has not ended, as far as is known, and no request was left without an answer: the
   * server may still ask something about that, or serve this session no more.
   */
  get isSound(): boolean {
    return !this.hasUnanswered && !this.channel.isOver;
  }

  /** Whether none of its requests waits for a reply. */
  get isIdle(): boolean {
    return this.inFlight === 0;
  }

  /** Whether the server gave this connection a session id. */
  get hasSessionId(): boolean {
    return this.transport.sessionId !== undefined;
  }

  /** Whether the server carries out calls as tasks (MCP specification, Tasks, capabilities). */
  get takesTasks(): boolean {
    return this.client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined;
  }

  /** Takes secrets that the transport knows out of a text of the server's. */
  redact(text: string): string {
    return hooksOf(this.transport).redact?.(text) ?? text;
  }

  /** What the server has written that is no message, where that is known; empty, or the rest of a sentence. */
  stray(): string {
    return hooksOf(this.transport).stray?.() ?? '';
  }

  /** Why the connection has ended. */
  endReason(): string {
    const reason = this.channel.endReason();
    return 'message' in reason ? reason.message : reason.kind;
  }

  /**
   * Connects the client; whoever calls this closes the link when it fails.
   * @throws the reason of `until`, RequestFailure, CallbackFailure, or the client's own refusal to connect
   */
  async connect(options: object, until: Abortable): Promise<void> {
    try {
      await untilAborted(this.client.connect(this.channel, { ...options, timeout: LONGEST_TIMER }), until);
    } catch (error) {
      if (until.aborted) throw until.reason;
      throw this.connectFailure(error);
    }
  }

  /**
   * Sends a request and waits for its result.
   * @throws the reason of `until`, RequestFailure or CallbackFailure
   */
  async request({ method, params, progressToken, until, call }: LinkRequest): Promise<RawResult> {
    until.throwIfAborted();
    const claim: Claim = { call, exchange: undefined, isGivenUp: false };
    params[CLAIM] = claim;
    if (progressToken !== undefined) params._meta = { progressToken };
    const request = { method, params };
    // One that the application has extended may send a copy, or send it again: only the signal reaches each of them.
    const own = this.needsSignal ? new Interruption([until]) : undefined;
    const sending = own ? { timeout: LONGEST_TIMER, signal: own.signal } : { timeout: LONGEST_TIMER };
    this.inFlight += 1;
    try {
      const result = await untilAborted(this.client.request(request, anyResult, sending), until);
      // A client of the application's that sends a copy of the request loses the claim, but not the result.
      return claim.exchange?.result ?? result;
    } catch (error) {
      this.hasUnanswered ||= !isAnswered(claim.exchange) && !(until.aborted && until.reason === NOT_NEEDED);
      if (until.aborted) {
        this.channel.giveUp(claim);
        throw until.reason;
      }
      throw requestFailure(claim.exchange, error);
    } finally {
      own?.release();
      // The client may keep its requests for a while, which is no reason to keep what came of them.
      claim.call = claim.exchange = undefined;
      this.inFlight -= 1;
      if (this.isIdle) this.onIdle();
    }
  }

  /** Has the transport tell the next run nothing that came for this one. */
  handOver(): void {
    hooksOf(this.transport).handOver?.();
  }

  /** The call that a message of the server's belongs to, by its parameters as they were received. */
  callOfMessage(params: object): ActiveCall | undefined {
    const origin = this.channel.origins.of(params);
    const taskId = relatedTask(params);
    // What belongs to a task that is not waited for any more belongs to no other call.
    if (taskId !== undefined)
      return this.calls.ofTask(taskId) ?? (origin?.call?.taskId === undefined ? origin?.call : undefined);
    return origin ? origin.call : this.calls.only();
  }

  /** Whether the client does something about a server's request or notification by itself. */
  handles(method: string): boolean {
    return handlesMethod(this.client, method);
  }

  /** Announces a capability; what the application's client says of it stays. */
  announce(name: string, capability: object): void {
    this.client.registerCapabilities({ [name]: { ...capability, ...capabilitiesOf(this.client)[name] } });
  }

  /** Answers a server's requests. */
  onRequest(schema: z.ZodType, answer: (params: object, signal: AbortSignal) => Promise<object>): void {
    const handler = (request: { params?: object }, { signal }: { signal: AbortSignal }): Promise<object> =>
      answer(request.params ?? {}, signal);
    this.client.setRequestHandler(schema as never, handler);
  }

  /** Takes in a server's notifications. */
  onNotification(schema: z.ZodType, take: (params: object) => void): void {
    const handler = (notification: { params?: object }): void => take(notification.params ?? {});
    this.client.setNotificationHandler(schema as never, handler);
  }

  /**
   * Ends the session on the server where the transport can, then closes the client. Every call returns the same promise.
   * @throws what closing the transport threw
   */
  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  private async shutDown(): Promise<void> {
    await this.channel.farewell();
    await this.client.close();
    await this.channel.close();
    if (this.channel.closeFailure) throw this.channel.closeFailure.error;
  }

  /** The client takes long to find out that it does nothing about a notification, of which a server may send any number. */
  private isForClient({ method, params }: Notification): boolean {
    const isTaken = method === 'notifications/progress' && this.calls.progress(Object(params) as object);
    return !isTaken && hearsNotification(this.client, method);
  }

  private connectFailure(error: unknown): unknown {
    const failure = this.channel.initialize?.failure;
    if (failure) return requestFailure(this.channel.initialize, error);
    if (messageOf(error).includes('protocol version is not supported')) {
      return new RequestFailure({ kind: 'unreadable', message: messageOf(error), cause: error });
    }
    return error instanceof CallbackFailure ? error : new RequestFailure(sendFailure(error));
  }
}

/** Whether the server answered a request that failed, or could not have heard of it. */
function isAnswered({ failure }: Partial<Exchange> = {}): boolean {
  return !(failure instanceof CallbackFailure) && (failure?.kind === 'reply' || failure?.kind === 'unsendable');
}

function requestFailure(exchange: Exchange | undefined, error: unknown): Error {
  const failure = exchange?.failure;
  if (failure instanceof CallbackFailure) return failure;
  if (failure) return new RequestFailure(failure);
  if (exchange === undefined && messageOf(error).includes('does not support')) {
    return new RequestFailure({ kind: 'unsupported', message: messageOf(error) });
  }
  return new RequestFailure(sendFailure(error));
}
