import type { CallOutcome } from '../errors';

/** What can end early, once, for a reason. */
export type Abortable = AbortSignal | Interruption;

/** Is told the reason. */
type Listener = (reason: unknown) => void;

/** Where a signal holds the listeners that wait for it, of which it carries only one itself. */
const LISTENERS = Symbol('mcp-toolset/listeners');

/** Where the signal of an interruption holds that interruption. */
const INTERRUPTION = Symbol('mcp-toolset/interruption');

type WatchedSignal = AbortSignal & { [LISTENERS]?: Listeners | undefined; [INTERRUPTION]?: Interruption };

/** Those who wait for one end. There are few at a time, for which an array is cheaper than a set that comes and goes. */
class Listeners {
  private readonly waiting: Listener[] = [];

  constructor(private readonly onEmpty?: () => void) {}

  /** Takes in a listener, of which there is no other like it; returns the function that takes it back. */
  add(listener: Listener): () => void {
    this.waiting.push(listener);
    return () => {
      const index = this.waiting.lastIndexOf(listener);
      if (index < 0) return;
      this.waiting.splice(index, 1);
      if (this.waiting.length === 0) this.onEmpty?.();
    };
  }

  fire(reason: unknown): void {
    for (let listener = this.waiting.shift(); listener; listener = this.waiting.shift()) listener(reason);
  }
}

/**
 * Ends some work early: for a reason of its own, or for that of whichever of its sources ends first. It is what an
 * AbortController is, except that its signal is made when somebody asks for it: most calls need none, and making one
 * takes longer than all else that the library does in a call.
 */
export class Interruption {
  aborted = false;
  reason: unknown;
  /** What is known about the call, should it end early from now on. */
  outcome?: CallOutcome;
  /** Those who wait for it. */
  readonly listeners = new Listeners();

  private controller: AbortController | undefined;
  private readonly detach: (() => void)[] = [];

  constructor(sources: readonly Abortable[] = []) {
    for (const source of sources) this.follow(source);
  }

  /** As an AbortSignal, for whoever needs one. */
  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      (this.controller.signal as WatchedSignal)[INTERRUPTION] = this;
      if (this.aborted) this.controller.abort(this.reason);
    }
    return this.controller.signal;
  }

  /** Ends with `source`, for its reason or what becomes of that. */
  follow(source: Abortable, reasonOf = (reason: unknown): unknown => reason): void {
    if (!this.aborted) this.detach.push(onAbort(source, (reason) => this.end(reasonOf(reason))));
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  /** Ends it for a reason of its own. */
  end(reason: unknown = new Error('ended')): void {
    if (this.aborted) return;
    this.release();
    this.aborted = true;
    this.reason = reason;
    // Before the signal: what follows both sees this end, and not that of a signal which was made of that one.
    this.listeners.fire(reason);
    this.controller?.abort(reason);
  }

  /** Takes back what it has left with its sources; nothing but `end` ends it any more. */
  release(): void {
    for (const undo of this.detach.splice(0)) undo();
  }
}

/** The interruption that stands behind a signal, or is one. */
export function interruptionBehind(source: Abortable): Interruption | undefined {
  return source instanceof Interruption ? source : (source as WatchedSignal)[INTERRUPTION];
}

/**
 * Calls `listener` once when `source` ends, at once if it has. However many listeners wait, a signal itself carries one.
 * Returns the function that takes the listener back.
 */
export function onAbort(source: Abortable, listener: Listener): () => void {
  if (source.aborted) {
    listener(source.reason);
    return () => undefined;
  }
  const { listeners } = interruptionBehind(source) ?? { listeners: listenersOf(source as AbortSignal) };
  return listeners.add(listener);
}

function listenersOf(signal: WatchedSignal): Listeners {
  return (signal[LISTENERS] ??= attached(signal));
}

function attached(signal: WatchedSignal): Listeners {
  const fire = (): void => {
    signal[LISTENERS] = undefined;
    listeners.fire(signal.reason);
  };
  const listeners = new Listeners(() => {
    signal[LISTENERS] = undefined;
    signal.removeEventListener('abort', fire);
  });
  signal.addEventListener('abort', fire, { once: true });
  return listeners;
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
    const detach = onAbort(source, (reason) => reject(asError(reason)));
    work.then(
      (value) => {
        detach();
        resolve(value);
      },
      (error: unknown) => {
        detach();
        reject(asError(error));
      },
    );
  });
}

/** A reason as what a promise is rejected with: the same one. */
export function asError(reason: unknown): Error {
  return reason as Error;
}
