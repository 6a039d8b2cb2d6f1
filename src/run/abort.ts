interface FanOut {
  readonly waiting: Set<() => void>;
  readonly detach: () => void;
}

/**
 * Where a signal holds its fan-out. A weak map would do as well, but every call has signals of its own, and the collector
 * pays for each entry.
 */
const FAN_OUT = Symbol('mcp-toolset/fan-out');

type WatchedSignal = AbortSignal & { [FAN_OUT]?: FanOut | undefined };

/**
 * Calls `listener` once when `signal` aborts, at once if it has. However many listeners wait, the signal itself carries
 * one. Returns the function that takes the listener back.
 */
export function onAbort(signal: WatchedSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => undefined;
  }
  const fanOut = signal[FAN_OUT] ?? attach(signal);
  const entry = (): void => listener();
  fanOut.waiting.add(entry);
  return () => {
    if (fanOut.waiting.delete(entry) && fanOut.waiting.size === 0) fanOut.detach();
  };
}

function attach(signal: WatchedSignal): FanOut {
  const waiting = new Set<() => void>();
  const fire = (): void => {
    signal[FAN_OUT] = undefined;
    for (const entry of [...waiting]) if (waiting.delete(entry)) entry();
  };
  const detach = (): void => {
    signal[FAN_OUT] = undefined;
    signal.removeEventListener('abort', fire);
  };
  const fanOut = { waiting, detach };
  signal[FAN_OUT] = fanOut;
  signal.addEventListener('abort', fire, { once: true });
  return fanOut;
}

/** A signal that never aborts. */
export const NEVER: AbortSignal = new AbortController().signal;

/** Several signals as one. */
export interface JoinedSignal {
  /** Aborts with the reason of whichever came first. */
  readonly signal: AbortSignal;
  /** Aborts it for a reason of its own. */
  readonly end: (reason: unknown) => void;
  /** Takes back every listener; the signal then never aborts. */
  readonly release: () => void;
}

/** Joins signals into one, until it is released. */
export function joinSignals(signals: readonly AbortSignal[]): JoinedSignal {
  const controller = new AbortController();
  const detach: (() => void)[] = [];
  const release = (): void => {
    for (const undo of detach.splice(0)) undo();
  };
  const end = (reason: unknown): void => {
    release();
    controller.abort(reason);
  };
  for (const signal of signals) {
    if (!controller.signal.aborted) detach.push(onAbort(signal, () => end(signal.reason)));
  }
  return { signal: controller.signal, end, release };
}

/**
 * Settles as `work` does, or rejects with the signal's reason as soon as it aborts, if there is a signal. What `work`
 * does after that is ignored, also when it fails.
 */
export function untilAborted<T>(work: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return Promise.resolve(work);
  return new Promise<T>((resolve, reject) => {
    const detach = onAbort(signal, () => reject(asError(signal.reason)));
    work.then(resolve, reject).then(detach, detach);
  });
}

function asError(reason: unknown): Error {
  return reason as Error;
}
