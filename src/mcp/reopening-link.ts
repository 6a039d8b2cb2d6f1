import { ProviderError } from '../errors';
import { Interruption, NEVER, onAbort, untilAborted, type Abortable } from '../run/abort';
import type { UnconnectedClient } from '../toolset/client-source';
import type { ToolsetDefinition } from '../toolset/definition';
import { ActiveCalls } from './active-calls';
import type { RequestSubject } from './failures';
import type { RawResult } from './reply';
import type { Handlers } from './handlers';
import { Link, type LinkRequest } from './link';
import { explained, faultOfSession, notReopened, tooSlow } from './link-failures';
import { Patience } from './patience';
import { closeTogether } from './session-registry';
import { checkedUnconnected, discard } from './unconnected';

/** What links are made from. */
export interface LinkSource {
  readonly definition: ToolsetDefinition;
  /** Time for one request in milliseconds, unless the connection says otherwise. */
  readonly timeout: number;
  /** Ends connecting, with its reason. */
  readonly signal: Abortable;
  /** Builds a new unconnected client. */
  readonly create: () => Promise<UnconnectedClient>;
  /** What the server asks and tells. */
  readonly handlers: Handlers;
  /** Called when the connection in use has ended without being closed here; `reason` says why. */
  readonly onLost: (reason: string) => void;
}

/** A request, what it is for and how long it may take. */
export interface TimedRequest extends LinkRequest {
  readonly subject: RequestSubject;
  readonly wait: Patience;
}

/**
 * A link that is made anew when the server has forgotten its session (MCP specification, Transports, session management),
 * or does not accept the credentials of an earlier run any more.
 */
export class ReopeningLink {
  /** The calls that wait for their results. */
  readonly calls = new ActiveCalls();

  private current: Link | undefined;
  /** The link that was opened for an earlier run. */
  private inherited: Link | undefined;
  private reopening: Promise<void> | undefined;
  /** Every link that is not closed, the forgotten ones included. */
  private readonly links = new Set<Link>();
  private readonly end = new Interruption();
  private requestTimeout: number;
  private isTainted = false;

  constructor(private source: LinkSource) {
    this.requestTimeout = source.timeout;
  }

  get isStdio(): boolean {
    return this.current?.isStdio === true;
  }

  /** Whether the server carries out calls as tasks. */
  get takesTasks(): boolean {
    return this.current?.takesTasks === true;
  }

  /** Takes secrets that the transport knows out of a text of the server's. */
  redact(text: string): string {
    return this.current?.redact(text) ?? text;
  }

  /** Time for one request in milliseconds. */
  get timeout(): number {
    return this.requestTimeout;
  }

  /**
   * Builds a client and connects it; `phase` says what for.
   * @throws what the factory threw, ConfigurationError, ProviderError, ProtocolError or the reason of the signal;
   * nothing stays open then
   */
  async open(phase?: RequestSubject['phase']): Promise<void> {
    const { definition } = this.source;
    const parts = await this.created();
    this.requestTimeout = parts.timeout ?? this.source.timeout;
    const link: Link = new Link(parts, this.calls, () => link !== this.current && this.retire(link));
    this.links.add(link);
    const connectOptions = definition.source.kind === 'factory' ? definition.source.connectOptions : {};
    const subject: RequestSubject = { toolset: definition.name, method: 'initialize', ...(phase && { phase }) };
    const time = connectOptions.timeout ?? this.requestTimeout;
    const wait = new Patience([this.source.signal, this.end], time, () => tooSlow(subject, time, link.stray()));
    try {
      this.source.handlers.attach(link, () => this.source.handlers);
      await link.connect(connectOptions, wait);
      this.current = link;
      onAbort(link.ended, () => this.isInUse(link) && this.source.onLost(link.endReason()));
    } catch (error) {
      await this.retire(link);
      throw explained(error, subject, link);
    } finally {
      wait.release();
    }
  }

  /**
   * Sends a request and waits for its result; a request that the server refused because of its session goes out once more
   * through a new one.
   * @throws the reason of `until`, ProviderError, ProtocolError, or for a call ToolError
   */
  request(request: TimedRequest): Promise<RawResult> {
    const link = this.inUse(request.subject);
    return link.request(request).catch((error: unknown) => this.resentAfter(error, link, request));
  }

  /** Whether another run may have it: it is connected, nothing is under way, and nothing is left of what was. */
  get isFree(): boolean {
    const isIdle = this.reopening === undefined && this.calls.isEmpty;
    return isIdle && !this.isTainted && this.current?.isSound === true;
  }

  /** Lets no other run have it: the server may go on with something that is not waited for any more, and ask about it. */
  taint(): void {
    this.isTainted = true;
  }

  /** Has it serve another run, by what the connections of that one are made from. */
  serve(source: LinkSource): void {
    this.source = source;
    this.inherited = this.current;
  }

  /** Has it serve nobody, and forget whom it served; `onLost` is called when its connection ends. */
  leave(onLost: () => void): void {
    this.current?.handOver();
    this.forgetRun(onLost);
  }

  private forgetRun(onLost: () => void): void {
    const create = (): Promise<never> => Promise.reject(new Error('no run needs a connection'));
    this.source = { ...this.source, onLost, create, signal: NEVER };
  }

  /**
   * Closes every link, and stops opening one.
   * @throws CleanupError with what closing them threw
   */
  async close(): Promise<void> {
    this.end.end();
    await this.reopening?.catch(() => undefined);
    try {
      await closeTogether(this.links, `Toolset ${this.source.definition.name}`);
    } finally {
      // Its clients may be kept for long after this, which is no reason to keep the run that they were for.
      this.forgetRun(() => undefined);
    }
  }

  /** A link that is being replaced may end: the new one decides. */
  private isInUse(link: Link): boolean {
    return this.current === link && this.reopening === undefined;
  }

  private async created(): Promise<UnconnectedClient> {
    const { definition, signal, create } = this.source;
    signal.throwIfAborted();
    this.end.throwIfAborted();
    const creating = create();
    try {
      const returned = await untilAborted(untilAborted(creating, signal), this.end);
      const source =
        definition.source.kind === 'factory' ? `method ${String(definition.source.method)}` : 'ClientFactory';
      return await checkedUnconnected(returned, definition.name, source);
    } catch (error) {
      if (signal.aborted || this.end.aborted) void creating.then(discard, () => undefined);
      throw error;
    }
  }

  /** Waits until a link is replaced, by whichever of its requests noticed first what is wrong with it. */
  private async reopened(refused: Link, { subject, wait, until }: TimedRequest, fault: string): Promise<void> {
    if (this.current === refused) {
      this.reopening ??= this.open().finally(() => {
        this.reopening = undefined;
        if (this.current !== refused && refused.isIdle) void this.retire(refused);
      });
    }
    try {
      if (this.reopening) await untilAborted(this.reopening, until);
    } catch (error) {
      throw until.aborted ? until.reason : notReopened(error, subject, fault);
    }
    wait.restart();
  }

  /** Sends a request again where it was refused because of its session. */
  private async resentAfter(error: unknown, refused: Link, request: TimedRequest): Promise<RawResult> {
    const fault = faultOfSession(error, refused, refused === this.inherited);
    if (fault === undefined) throw explained(error, request.subject, refused);
    request.until.throwIfAborted();
    await this.reopened(refused, request, fault);
    const link = this.inUse(request.subject);
    try {
      return await link.request(request);
    } catch (failure) {
      throw explained(failure, request.subject, link);
    }
  }

  private inUse({ toolset }: RequestSubject): Link {
    if (!this.current) throw new ProviderError(`Toolset ${toolset}: there is no connection.`, { toolset });
    return this.current;
  }

  private async retire(link: Link): Promise<void> {
    await link.close().catch(() => undefined);
    this.links.delete(link);
  }
}
