import type { CallOutcome } from '../errors';

/** What can end early, once, for a reason. */
export type Abortable = AbortSignal | Interruption;

/** Is told the reason. */
type Listener = (reason: unknown) => void;

/** Where a signal holds those who wait for it, of whom it knows only one itself. */
const WAITERS = Symbol('mcp-toolset/waiters');

/** Where the signal of an interruption holds that interruption. */
const INTERRUPTION = Symbol('mcp-toolset/interruption');

type WatchedSignal = AbortSignal & { [WAITERS]?: Waiters | undefined; [INTERRUPTION]?: Interruption };

/** The reason of an end that has none. One for all: an error keeps whatever was being called when it was made. */
const ENDED = new Error('ended');

/** Somebody who waits for an end. */
export class Waiter {
  /** The neighbours in the list of those who wait. */
  next: Waiter | undefined;
  previous: Waiter | undefined;
  /** Another one of the same interruption. */
  fellow: Waiter | undefined;

  constructor(
    private readonly list: Waiters | undefined,
    readonly listener: Listener,
  ) {}

  /** Waits no longer. */
  leave(): void {
    this.list?.remove(this);
  }
}

/** Those who wait for one end, in the order in which they came. A list of its own, because every call makes several. */
class Waiters {
  private first: Waiter | undefined;
  private last: Waiter | undefined;

  constructor(private readonly onEmpty?: () => void) {}

  add(listener: Listener): Waiter {
    const waiter = new Waiter(this, listener);
    waiter.previous = this.last;
    if (this.last) this.last.next = waiter;
    else this.first = waiter;
    this.last = waiter;
    return waiter;
  }

  remove(waiter: Waiter): void {
    const { previous, next } = waiter;
    if (!previous && this.first !== waiter) return;
    if (previous) previous.next = next;
    else this.first = next;
    if (next) next.previous = previous;
    else this.last = previous;
    waiter.previous = waiter.next = undefined;
    if (!this.first) this.onEmpty?.();
  }

  get isEmpty(): boolean {
    return this.first === undefined;
  }

  fire(reason: unknown): void {
    for (let waiter = this.first; waiter; waiter = this.first) {
      this.remove(waiter);
      waiter.listener(reason);
    }
  }
}

/**
 * Ends some work early: for a reason of its own, or for that of whichever of its sources ends first. It is what an
 * AbortController is, except that its signal is made when somebody asks for it: most calls need none, and making one
 * takes about as long as all else that the library does in a call.
 */
export class Interruption {
  aborted = false;
  /** What is known about the call, should it end early from now on. */
  outcome?: CallOutcome;
  /** Those who wait for it. */
  readonly waiters = new Waiters();

  /** Those that end with the one that is being ended, which comes first. */
  private static ending: Interruption[] | undefined;

  private controller: AbortController | undefined;
  private why: unknown;
  /** Makes the reason, as long as nobody has asked for it. */
  private makeReason: (() => unknown) | undefined;
  /** The last of those that it has left with its sources. No array, for V8 would keep what the arrays of old calls hold. */
  private following: Waiter | undefined;

  constructor(sources: readonly Abortable[] = []) {
    for (const source of sources) this.follow(source);
  }

  get reason(): unknown {
    if (this.makeReason) this.why = this.makeReason();
    this.makeReason = undefined;
    return this.why;
  }

  /** As an AbortSignal, for whoever needs one. */
  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      Object.defineProperty(this.controller.signal, INTERRUPTION, { value: this });
      if (this.aborted) this.controller.abort(this.reason);
    }
    return this.controller.signal;
  }

  /** Ends with `source`, for its reason or what becomes of that. */
  follow(source: Abortable, reasonOf = (reason: unknown): unknown => reason): void {
    if (this.aborted) return;
    const waiter = onAbort(source, (reason) => this.end(reasonOf(reason)));
    waiter.fellow = this.following;
    this.following = waiter;
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  /** Ends it for a reason of its own. */
  end(reason: unknown = ENDED): void {
    this.endWith(() => reason);
  }

  /** Ends it for a reason of its own, which is made when somebody asks for it: an error takes some 50 µs. */
  endWith(makeReason: () => unknown): void {
    if (this.aborted) return;
    this.release();
    this.aborted = true;
    this.makeReason = makeReason;
    const outer = Interruption.ending;
    const ended = (Interruption.ending = outer ?? []);
    ended.push(this);
    try {
      // Before the signal: what follows both sees this end, and not that of a signal which was made of that one.
      if (!this.waiters.isEmpty) this.waiters.fire(this.reason);
    } finally {
      if (!outer) Interruption.abortSignals(ended);
    }
  }

  /** In the order in which they ended: an application that hears of one finds that those have aborted which it follows. */
  private static abortSignals(ended: readonly Interruption[]): void {
    Interruption.ending = undefined;
    for (const { controller, reason } of ended.filter(({ controller }) => controller)) controller?.abort(reason);
  }

  /** Takes back what it has left with its sources; nothing but `end` ends it any more. */
  release(): void {
    for (let waiter = this.following; waiter; waiter = waiter.fellow) waiter.leave();
    this.following = undefined;
  }
}

/** The interruption that stands behind a signal, or is one. */
export function interruptionBehind(source: Abortable): Interruption | undefined {
  return source instanceof Interruption ? source : (source as WatchedSignal)[INTERRUPTION];
}

/**
 * Calls `listener` once when `source` ends, at once if it has. However many wait, a signal itself carries one listener.
 * Whoever waits no longer has to leave.
 */
export function onAbort(source: Abortable, listener: Listener): Waiter {
  const interruption = interruptionBehind(source);
  // A signal aborts a little later than the interruption behind it, which tells nobody twice.
  const known = interruption ?? source;
  if (known.aborted) {
    listener(known.reason);
    return new Waiter(undefined, listener);
  }
  return (interruption?.waiters ?? waitersOf(source as AbortSignal)).add(listener);
}

function waitersOf(signal: WatchedSignal): Waiters {
  // Nobody who prints a signal is shown what the library keeps there.
  if (!(WAITERS in signal)) Object.defineProperty(signal, WAITERS, { value: undefined, writable: true });
  return (signal[WAITERS] ??= attached(signal));
}

function attached(signal: WatchedSignal): Waiters {
  const fire = (): void => {
    signal[WAITERS] = undefined;
    waiters.fire(signal.reason);
  };
  const waiters = new Waiters(() => {
    signal[WAITERS] = undefined;
    signal.removeEventListener('abort', fire);
  });
  signal.addEventListener('abort', fire, { once: true });
  return waiters;
}

/** A signal that never aborts. */
export const NEVER: AbortSignal = new AbortController().signal;

/**
 * Settles as `work` does, or rejects with the reason of `source` as soon as that ends, if there is one. What `work` does
 * after that is ignored, also when it fails.
 */
export function untilAborted<T>(work: PromiseLike<T>, source: Abortable | undefined): Promise<T> {
  if (!source) return Promise.resolve(work);
  return new Promise<T>((resolve, reject) => {
    const waiter = onAbort(source, (reason) => reject(asError(reason)));
    work.then(
      (value) => {
        waiter.leave();
        resolve(value);
      },
      (error: unknown) => {
        waiter.leave();
        reject(asError(error));
      },
    );
  });
}

/** A reason as what a promise is rejected with: the same one. */
export function asError(reason: unknown): Error {
  return reason as Error;
}
