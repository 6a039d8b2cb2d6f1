/**
 * Values that belong to objects, kept as a `WeakMap` keeps them. V8 looks only at new objects most of the time, and takes
 * every value in an old `WeakMap` for alive then: a run that can be reached by one outlives its end for long, with its
 * catalog and all. So a value is in a hidden field of its object, and in a `WeakMap` only where the object takes none.
 */
export class Attached<K extends object, V> {
  private readonly field = Symbol('mcp-toolset');
  private readonly elsewhere = new WeakMap<K, V>();

  /** The value of an object, made when it is first asked for; always the same one. */
  of(object: K, make: () => V): V {
    const known = this.get(object);
    if (known !== undefined) return known;
    const value = make();
    try {
      // Configurable, or a proxy that stands for the object may not tell of it.
      Object.defineProperty(object, this.field, { value, configurable: true });
    } catch {
      this.elsewhere.set(object, value);
    }
    return value;
  }

  /** The value of an object, if it has one. */
  get(object: K): V | undefined {
    return Object.hasOwn(object, this.field) ? (object as Record<symbol, V>)[this.field] : this.elsewhere.get(object);
  }
}
