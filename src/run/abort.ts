interface FanOut {
  readonly waiting: Set<() => void>;
  readonly detach: () => void;
}

const fanOuts = new WeakMap<AbortSignal, FanOut>();

/**
 * Calls `listener` once when `signal` aborts, at once if it has. However many listeners wait, the signal itself carries
 * one. Returns the function that takes the listener back.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => undefined;
  }
  const fanOut = fanOuts.get(signal) ?? attach(signal);
  const entry = (): void => listener();
  fanOut.waiting.add(entry);
  return () => {
    if (fanOut.waiting.delete(entry) && fanOut.waiting.size === 0) fanOut.detach();
  };
}

function attach(signal: AbortSignal): FanOut {
  const waiting = new Set<() => void>();
  const fire = (): void => {
    fanOuts.delete(signal);
    for (const entry of [...waiting]) if (waiting.delete(entry)) entry();
  };
  const detach = (): void => {
    fanOuts.delete(signal);
    signal.removeEventListener('abort', fire);
  };
  const fanOut = { waiting, detach };
  fanOuts.set(signal, fanOut);
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
