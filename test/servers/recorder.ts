interface Wait<T> {
  matches(item: T): boolean;
  remaining: number;
  resolve(item: T): void;
  reject(error: Error): void;
  what: string;
}

/** Keeps what a server has received, in order, and tells waiters as soon as something arrives. */
export class Recorder<T extends { readonly method: string }> {
  readonly items: T[] = [];
  readonly #waits = new Set<Wait<T>>();
  #closed = false;

  /** Records one item and settles whoever waited for it. */
  add(item: T): void {
    this.items.push(item);
    for (const wait of this.#waits) this.#offer(wait, item);
  }

  /**
   * The `count`-th recorded item that has this method or satisfies this predicate, counted from the beginning; past
   * ones count too. Rejects when the server closes first.
   */
  waitFor(what: string | ((item: T) => boolean), count = 1): Promise<T> {
    const matches = typeof what === 'string' ? (item: T) => item.method === what : what;
    const promise = new Promise<T>((resolve, reject) => {
      const label = typeof what === 'string' ? `"${what}"` : 'a request that satisfies the predicate';
      const wait = { matches, remaining: count, resolve, reject, what: `${label} (${count})` };
      this.#waits.add(wait);
      for (const item of [...this.items]) this.#offer(wait, item);
      if (this.#closed) this.#refuse(wait);
    });
    promise.catch(() => undefined); // an abandoned wait is no unhandled rejection
    return promise;
  }

  /** Rejects every open wait; later waits can only be for what was recorded. */
  close(): void {
    this.#closed = true;
    for (const wait of this.#waits) this.#refuse(wait);
  }

  #offer(wait: Wait<T>, item: T): void {
    if (!this.#waits.has(wait) || !wait.matches(item) || --wait.remaining > 0) return;
    this.#waits.delete(wait);
    wait.resolve(item);
  }

  #refuse(wait: Wait<T>): void {
    if (!this.#waits.delete(wait)) return;
    const seen = this.items.map((item) => item.method).join(', ') || 'nothing';
    wait.reject(new Error(`The server closed before it received ${wait.what}. It received: ${seen}`));
  }
}
