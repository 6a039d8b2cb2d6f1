import { singleton } from 'tsyringe';

/** As much of a Keyv as is used: any of its adapters (Redis, PostgreSQL, …) fits. */
export interface KeyvLike {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown, ttl: number): Promise<unknown>;
  delete(key: string): Promise<unknown>;
  on?(event: 'error', listener: (error: unknown) => void): unknown;
}

/**
 * Where toolsets with the option `catalog` keep their catalogs beside the memory of the process, so that a fleet of
 * processes shares them. This one keeps nothing; for a fleet register `CatalogStore.over(keyv)`, or a subclass. Runs that
 * have different stores share nothing. What a store throws, or does not answer within half a second, costs a warning and no run.
 */
@singleton()
export class CatalogStore {
  /** A store over a Keyv: `container.registerInstance(CatalogStore, CatalogStore.over(new Keyv(new KeyvRedis(url))))`. */
  static over(keyv: KeyvLike): CatalogStore {
    return new KeyvCatalogStore(keyv);
  }

  /** The catalog that was kept under a key, as it was given; undefined where there is none any more. */
  get(_key: string): PromiseLike<unknown> | undefined {
    return undefined;
  }

  /** Keeps a catalog, which is plain JSON, for `ttl` milliseconds. */
  set(_key: string, _catalog: unknown, _ttl: number): PromiseLike<unknown> | undefined {
    return undefined;
  }

  /** Forgets the catalog that was kept under a key. */
  delete(_key: string): PromiseLike<unknown> | undefined {
    return undefined;
  }
}

class KeyvCatalogStore extends CatalogStore {
  constructor(private readonly keyv: KeyvLike) {
    super();
    // Without a listener, an adapter that loses its connection would end the process; requests of the store fail then.
    keyv.on?.('error', () => undefined);
  }

  override get(key: string): Promise<unknown> {
    return this.keyv.get(key);
  }

  override set(key: string, catalog: unknown, ttl: number): Promise<unknown> {
    return this.keyv.set(key, catalog, ttl);
  }

  override delete(key: string): Promise<unknown> {
    return this.keyv.delete(key);
  }
}
