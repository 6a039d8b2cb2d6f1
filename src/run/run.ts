import { setMaxListeners } from 'node:events';
import type { DependencyContainer, InjectionToken } from 'tsyringe';
import { CancelledError, CleanupError, ConfigurationError, DeadlineExceededError } from '../errors';
import { Interruption, NEVER, onAbort, type Abortable } from './abort';
import { closedError } from './closed-error';
import { atDeadline } from './deadline';
import { identityOf, type RunIdentity } from './identity';
import { unknownClass } from './injection-hint';
import { showOnly } from './show-only';

/** Who and what a run is for. */
export interface Invocation {
  /** The run's id. */
  readonly runId: string;
  /** The user on whose behalf the run acts. */
  readonly actorId: string | undefined;
  /** What else the application wants its tools and callbacks to know. */
  readonly context: Readonly<Record<string, unknown>>;
}

/** `active` until the run is cancelled, its deadline passes or it is closed. */
export type RunState = 'active' | 'cancelled' | 'expired' | 'closed';

/** Something that a run closes when it ends: the first of these methods that it has is called. */
export type RunResource =
  | { close(): unknown }
  | { [Symbol.asyncDispose](): PromiseLike<unknown> }
  | { [Symbol.dispose](): unknown }
  | { dispose(): unknown };

/** What a `RunFactory` has already checked. */
export interface RunParts {
  readonly invocation: Invocation;
  readonly container: DependencyContainer;
  readonly deadline: Date | undefined;
  readonly signal: AbortSignal | undefined;
}

let endingOf: (run: Run) => Abortable;

/** One agent execution: it owns a child container, a cancellation signal, a deadline and the resources registered with it. */
export class Run implements AsyncDisposable {
  readonly invocation: Invocation;
  /** The run's own container; what is registered here is seen by this run only. */
  readonly container: DependencyContainer;
  /** When the run must be over. */
  readonly deadline: Date | undefined;

  private readonly ending = new Interruption();
  private readonly resources: RunResource[] = [];
  private readonly detach: (() => void)[] = [];
  private closing: Promise<void> | undefined;
  private bound = false;
  private hasSignal = false;

  static {
    endingOf = (run) => run.ending;
  }

  /** Runs are made by `RunFactory#start`. */
  constructor(parts: RunParts) {
    this.invocation = parts.invocation;
    this.container = parts.container;
    this.deadline = parts.deadline;
    showOnly(this, ['invocation', 'deadline']);
    const { signal, deadline } = parts;
    if (deadline) this.detach.push(atDeadline(deadline.getTime(), () => this.expire()));
    if (deadline && deadline.getTime() <= Date.now()) this.expire();
    if (!signal || this.ending.aborted) return;
    const waiter = onAbort(signal, (reason) => this.cancel(reason));
    this.detach.push(() => waiter.leave());
  }

  get id(): string {
    return this.invocation.runId;
  }

  /** Aborts when the run is cancelled, expires or closes; its reason is the `CancelledError` or `DeadlineExceededError`. */
  get signal(): AbortSignal {
    const { signal } = this.ending;
    // An application may hand it to as many requests of its own as it likes.
    if (!this.hasSignal) setMaxListeners(Infinity, signal);
    this.hasSignal = true;
    return signal;
  }

  get state(): RunState {
    if (this.closing) return 'closed';
    if (!this.ending.aborted) return 'active';
    return DeadlineExceededError.is(this.ending.reason) ? 'expired' : 'cancelled';
  }

  /**
   * Returns while the run may go on.
   * @throws CancelledError when it was cancelled or closed, DeadlineExceededError when its deadline has passed
   */
  check(): void {
    if (this.closing) throw closedError(this.id);
    if (this.remainingTime() <= 0) this.expire();
    this.ending.throwIfAborted();
  }

  /** Milliseconds until the deadline, at least 0; `Infinity` without one. */
  remainingTime(): number {
    return this.deadline ? Math.max(0, this.deadline.getTime() - Date.now()) : Infinity;
  }

  /** Cancels the run: everything in flight fails with a `CancelledError` whose `cause` is `reason`. Idempotent. */
  cancel(reason?: unknown): void {
    this.end(() => new CancelledError(`Run ${this.id} was cancelled.`, reason === undefined ? {} : { cause: reason }));
  }

  /**
   * Hands a resource to the run, which closes it when it ends, the last one first.
   * @throws ConfigurationError when there is no way to close it, CancelledError when the run is closed
   */
  register<T extends RunResource>(resource: T): T {
    if (this.closing) throw closedError(this.id);
    if (closerOf(resource) === undefined) {
      throw new ConfigurationError(
        'Run#register: expected a resource with close(), dispose(), [Symbol.asyncDispose]() or [Symbol.dispose]().',
      );
    }
    if (!this.resources.includes(resource)) this.resources.push(resource);
    return resource;
  }

  /**
   * Resolves a token from the run's container.
   * @throws CancelledError when the run is closed, ConfigurationError for a class that is not marked `@injectable()` and for
   * an object that another run was injected into (a singleton), and what the container throws
   */
  resolve<T>(token: InjectionToken<T>): T {
    if (this.closing) throw closedError(this.id);
    this.bound = false;
    const resolved = this.fromContainer(token);
    if (typeof resolved === 'object' && resolved !== null) this.claim(resolved);
    return resolved;
  }

  private fromContainer<T>(token: InjectionToken<T>): T {
    try {
      return this.container.resolve(token);
    } catch (error) {
      throw unknownClass(error, token) ?? error;
    }
  }

  /** Told when something that belongs to the run is injected. */
  markBound(): void {
    this.bound = true;
  }

  /** Makes sure that what one run was injected into serves no other run. */
  private claim(resolved: object): void {
    const owner = owners.get(resolved);
    if (owner !== undefined && owner !== identityOf(this)) {
      throw new ConfigurationError(
        `Run#resolve: an instance of ${resolved.constructor?.name} was made for run ${owner.id}, which was injected into it, ` +
          'and would serve another run now. Do not register the class as a singleton: mark it @injectable().',
      );
    }
    if (this.bound) owners.set(resolved, identityOf(this));
  }

  /**
   * Ends the run and closes everything that is registered with it. Every call returns the same promise.
   * @throws CleanupError when something could not be closed; the rest is closed nevertheless
   */
  close(): Promise<void> {
    if (!this.closing) {
      let start = (): void => undefined;
      this.closing = new Promise<void>((resolve) => (start = resolve)).then(() => this.closeResources());
      this.end(() => closedError(this.id));
      start();
    }
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private expire(): void {
    const deadline = this.deadline?.toISOString() ?? '';
    this.end(() => new DeadlineExceededError(`Run ${this.id} passed its deadline (${deadline}).`));
  }

  private end(reason: () => Error): void {
    if (this.ending.aborted) return;
    this.ending.endWith(reason);
    for (const detach of this.detach.splice(0)) detach();
  }

  private async closeResources(): Promise<void> {
    const errors: unknown[] = [];
    for (const resource of this.resources.splice(0).reverse()) {
      try {
        await closerOf(resource)?.();
      } catch (error) {
        errors.push(...(CleanupError.is(error) ? error.errors : [error]));
      }
    }
    if (errors.length > 0) {
      throw new CleanupError(`Run ${this.id}: ${errors.length} of its resources could not be closed.`, { errors });
    }
  }
}

/** The run that was injected into an object. */
const owners = new WeakMap<object, RunIdentity>();

/** When a run ends, for the library: `Run#signal` would make an AbortSignal. */
export function endOf(run: Run | undefined): Abortable {
  return run ? endingOf(run) : NEVER;
}

const CLOSERS = ['close', Symbol.asyncDispose, Symbol.dispose, 'dispose'] as const;

function closerOf(resource: object): (() => unknown) | undefined {
  const methods = resource as Partial<Record<(typeof CLOSERS)[number], () => unknown>>;
  const name = CLOSERS.find((closer) => typeof methods[closer] === 'function');
  return name === undefined ? undefined : () => methods[name]?.();
}
