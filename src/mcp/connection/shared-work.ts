import { untilAborted } from '../../run/abort';

/** Work that several wait for; it is dropped when nobody does any more. */
export class SharedWork<T> {
  /** Settles as the work does. */
  readonly result: Promise<T>;
  private readonly end = new AbortController();
  private waiting = 0;

  constructor(work: (signal: AbortSignal) => Promise<T>) {
    this.result = work(this.end.signal);
    // Whoever waited may have gone.
    this.result.catch(() => undefined);
  }

  /** Whether nobody has waited to the end. */
  get isDropped(): boolean {
    return this.end.signal.aborted;
  }

  /**
   * Waits for it.
   * @throws what the work throws, and the signal's reason when it aborts first
   */
  async join(signal: AbortSignal): Promise<T> {
    this.waiting += 1;
    try {
      return await untilAborted(this.result, signal);
    } finally {
      this.waiting -= 1;
      if (this.waiting === 0) this.end.abort();
    }
  }
}
