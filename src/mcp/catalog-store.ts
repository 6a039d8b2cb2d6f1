import { singleton } from 'tsyringe';
import { showOnly } from '../run/show-only';

/** As much of a Keyv as is used; whichever adapter it has (Redis, PostgreSQL, …), it fits. */
export interface KeyvLike {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown, ttl: number): Promise<unknown>;
  delete(key: string): Promise<unknown>;
  on?(event: 'error', listener: (error: unknown) => void): unknown;
}

/**
 * Where toolsets with the option `catalog` keep their catalogs beside the memory of the process, so that a fleet of
 * processes shares them. This one keeps nothing; for a fleet register `CatalogStore.over(keyv)`, or a subclass, as one
 * instance (`registerInstance`, `registerSingleton`): runs that have different ones share nothing. What a store throws, or does not answer within half a second, costs a warning and no run.
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
  private failure: { readonly error: unknown } | undefined;

  constructor(private readonly keyv: KeyvLike) {
    super();
    showOnly(this, []); // its options may have the store's password
    // Keyv tells of most failures by this event, which without a listener would end the process.
    keyv.on?.('error', (error) => (this.failure = { error }));
  }

  override get(key: string): Promise<unknown> {
    return this.done(this.keyv.get(key));
  }

  override set(key: string, catalog: unknown, ttl: number): Promise<unknown> {
    return this.done(this.keyv.set(key, catalog, ttl));
  }

  override delete(key: string): Promise<unknown> {
    return this.done(this.keyv.delete(key));
  }

  private async done(work: Promise<unknown>): Promise<unknown> {
    const value = await work;
    const { failure } = this;
    this.failure = undefined;
    if (failure) throw failure.error;
    return value;
  }
}
