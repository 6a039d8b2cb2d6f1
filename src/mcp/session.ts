import { ProviderError } from '../errors';
import { noteOutcome } from '../run/interruption';
import { Interruption, NEVER, type Abortable } from '../run/abort';
import { endOf, type Run } from '../run/run';
import { Turnstile } from '../run/turnstile';
import { describe, outcomeOf, type RequestSubject } from './failures';
import type { RawResult } from './reply';
import { Patience } from './patience';
import { tooSlow } from './link-failures';
import type { TimedRequest, ReopeningLink } from './reopening-link';
import { closeWithRun } from './run-sessions';
import { TaskCall } from './task-call';
import { wantsTask } from './task';
import { SessionConnection } from './session-connection';
import type { SessionParts, SessionRequest } from './session-parts';
import { enterRegistry, leaveRegistry, type OpenSession } from './session-registry';

let latest = 0;

/** The ordinal of the session that was made last. */
export function latestSession(): number {
  return latest;
}

/** One connected client, owned by one run, or by whoever holds its tools where there is no run. */
export class Session implements OpenSession {
  readonly toolset: string;
  readonly runId: string | undefined;
  /** Its place among all sessions of the process, the first one being 1. */
  readonly ordinal = (latest += 1);

  private readonly heldBy = new Set<object>();
  /** The calls that are carried out as tasks, until nothing is left of them. */
  private readonly tasks = new Set<Promise<void>>();
  private readonly connection: SessionConnection;
  private readonly turns = new Turnstile();
  private readonly end = new Interruption();
  private endReason = 'the session is closed';
  private closing: Promise<void> | undefined;

  private constructor(private readonly parts: SessionParts) {
    const { definition, binding, create, handlers, warm } = parts;
    this.toolset = definition.name;
    this.runId = binding.run?.id;
    const signal = endOf(binding.run);
    const timeout = definition.timeout ?? parts.timeout;
    const onLost = (reason: string): void => this.lost(reason);
    const source = { definition, create, signal, timeout, handlers, onLost };
    this.connection = new SessionConnection({ source, warm, onOpen: () => this.opened() });
  }

  /**
   * A session that connects when its first request is made; the run, if there is one, closes it.
   * @throws CancelledError when the run is closed
   */
  static prepare(parts: SessionParts): Session {
    const session = new Session(parts);
    if (parts.binding.run) closeWithRun(parts.binding.run, { close: () => session.leaveRun() });
    return session;
  }

  /** When it was connected. */
  get openedAt(): Date {
    return this.connection.openedAt;
  }

  /** The run that owns the session, if one does. */
  get run(): Run | undefined {
    return this.parts.binding.run;
  }

  /** Who keeps the session: the tools that were made for it, and whoever is about to make some. */
  get holders(): ReadonlySet<object> {
    return this.heldBy;
  }

  /** Lets the next discovery open a session of its own. */
  forget(): void {
    this.parts.onForget?.();
  }

  /** Keeps the session for a tool that was made for it. */
  hold(holder: object): void {
    this.heldBy.add(holder);
  }

  /** Counterpart of `hold` that leaves the session open. */
  drop(holder: object): void {
    this.heldBy.delete(holder);
  }

  /** Counterpart of `hold`: without a run, the session closes with the last of its tools. */
  async release(holder: object): Promise<void> {
    if (this.heldBy.delete(holder) && this.heldBy.size === 0 && this.parts.binding.run === undefined)
      await this.close();
  }

  /**
   * Sends a request and waits for its result. The first one builds a client and connects it; where that fails, nothing
   * stays open, and the next one does so again.
   * @throws the signal's reason, ProviderError, ProtocolError, what the factory threw, or for a call ToolError
   */
  async request(request: SessionRequest): Promise<RawResult> {
    const { method, signal = NEVER, call } = request;
    const tool = call?.mcpTool.name;
    const subject: RequestSubject = { toolset: this.toolset, method, tool };
    if (tool !== undefined) noteOutcome(signal, 'not-sent');
    if (!this.connection.isOpen && !this.closing) await this.connected(subject, signal);
    const leave = this.isSerial ? await this.turns.enter(signal) : undefined;
    try {
      signal.throwIfAborted();
      if (this.end.aborted) throw this.endedError(subject, 'not-sent');
      if (tool !== undefined) noteOutcome(signal, 'unknown');
      return await this.exchange(subject, request, signal);
    } finally {
      leave?.();
    }
  }

  /** The run ends: a session of the application that is free is left for the next run, any other closes. */
  private leaveRun(): Promise<void> {
    if (this.closing || this.tasks.size > 0 || !this.connection.leave()) return this.close();
    this.closing = Promise.resolve();
    this.end.end();
    this.parts.handlers.close();
    leaveRegistry(this);
    return this.closing;
  }

  /**
   * Closes the session; requests in flight fail at once. Every call returns the same promise.
   * @throws what closing the transport threw
   */
  close(): Promise<void> {
    if (!this.closing) {
      this.end.end();
      this.parts.handlers.close();
      this.closing = this.closeLink().finally(() => leaveRegistry(this));
    }
    return this.closing;
  }

  private async connected(subject: RequestSubject, signal: Abortable): Promise<void> {
    try {
      await this.connection.open(signal, subject.tool === undefined ? undefined : 'before');
    } catch (error) {
      if (this.end.aborted && !signal.aborted) throw this.endedError(subject, 'not-sent');
      throw error;
    }
  }

  private opened(): void {
    // Whoever closed it meanwhile has nothing to take out of the registry any more.
    if (!this.closing) enterRegistry(this);
  }

  private get link(): ReopeningLink {
    return this.connection.link;
  }

  private get isSerial(): boolean {
    const { calls } = this.parts.definition;
    return calls === undefined ? this.link.isStdio : calls === 'serial';
  }

  private async closeLink(): Promise<void> {
    await Promise.all(this.tasks);
    await this.link.close();
  }

  private async exchange(
    subject: RequestSubject,
    { method, params, call: description }: SessionRequest,
    signal: Abortable,
  ): Promise<RawResult> {
    const { timeout, calls } = this.link;
    const wait = new Patience([signal, this.end], timeout, () => tooSlow(subject, timeout));
    const call = description && { description, wait };
    const active = calls.begin(call, (progress) => {
      wait.restart();
      if (call) this.parts.handlers.progress(progress, call);
    });
    try {
      return await this.send({ method, params, progressToken: active.progressToken, until: wait, subject, wait, call });
    } catch (error) {
      if (this.end.aborted && error === this.end.reason) throw this.endedError(subject, 'unknown');
      if (wait.aborted) this.abandonAfter(subject);
      throw error;
    } finally {
      calls.end(active);
      wait.release();
    }
  }

  private send(request: TimedRequest): Promise<RawResult> {
    const { link } = this;
    const { tasks: options } = this.parts.definition;
    if (!request.call || !link.takesTasks || !wantsTask(request.call.description.mcpTool, options))
      return link.request(request);
    const { result, ended } = new TaskCall({ link, request, options });
    this.tasks.add(ended);
    void ended.then(() => this.tasks.delete(ended));
    return result;
  }

  /** A child process may still answer a request that was given up, so its session cannot be trusted any more. */
  private abandonAfter(subject: RequestSubject): void {
    if (this.closing || !this.link.isStdio || this.parts.definition.calls === 'overlapping') return;
    this.endReason = `the session was closed, because an earlier request (${describe(subject)}) was given up`;
    this.close().catch(() => undefined);
  }

  private lost(reason: string): void {
    if (this.closing) return;
    this.endReason = `the session is closed: ${reason}`;
    this.close().catch(() => undefined);
  }

  private endedError(subject: RequestSubject, outcome: 'not-sent' | 'unknown'): ProviderError {
    const advice = outcome === 'not-sent' && this.run ? ' A new run has a new one.' : '';
    return new ProviderError(`${describe(subject)}: ${this.endReason}.${advice}`, {
      toolset: this.toolset,
      outcome: outcomeOf(subject, outcome),
    });
  }
}
