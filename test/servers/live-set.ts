/** A set of things that live for a while, with a promise for the moment when none is left. */
export class LiveSet<T> implements Iterable<T> {
  readonly #items = new Set<T>();
  readonly #waiters: (() => void)[] = [];

  get size(): number {
    return this.#items.size;
  }

  add(item: T): void {
    this.#items.add(item);
  }

  delete(item: T): void {
    this.#items.delete(item);
    if (this.#items.size > 0) return;
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  /** Resolves as soon as the set is empty, at once if it is. */
  async whenEmpty(): Promise<void> {
    if (this.#items.size > 0) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  [Symbol.iterator](): Iterator<T> {
    return [...this.#items][Symbol.iterator]();
  }
}
