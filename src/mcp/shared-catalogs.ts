import { createHash } from 'node:crypto';
import { ConfigurationError, messageOf, ProtocolError, ProviderError } from '../errors';
import { untilAborted } from '../run/abort';
import type { Logger } from '../settings';
import type { ToolsetDefinition } from '../toolset/definition';
import { boundedWait } from './bounded-wait';
import type { Catalog } from './catalog';
import { CatalogStore } from './catalog-store';
import { isAboutCredentials } from './failures';

/** How many catalogs of one toolset the process remembers: those that were used last. */
const MOST_CATALOGS = 100;
/** Milliseconds that a store has to answer. */
const STORE_BOUND = 500;

/** What a run needs of a catalog that it shares. */
export interface CatalogRequest {
  /** Milliseconds that the catalog is good for. */
  readonly ttl: number;
  /** Whose catalog it is. */
  readonly key: string;
  /** Ends the waiting, with its reason. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Asks the server. */
  readonly read: () => Promise<Catalog>;
  /** Checks what a store has kept like an answer of the server. */
  readonly check: (tools: unknown) => Promise<Catalog>;
}

interface Entry {
  catalog?: Catalog;
  /** By the clock of `performance.now()`. */
  staleAt: number;
  fetching: Promise<Catalog> | undefined;
  written: Promise<void>;
}

/** The catalogs that the runs of one store share. */
export class SharedCatalogs {
  private readonly entries = new WeakMap<ToolsetDefinition, Map<string, Entry>>();
  private readonly names = new Map<string, WeakRef<ToolsetDefinition>>();

  constructor(private readonly store: CatalogStore) {}

  /**
   * The catalog of a toolset under a key: remembered, kept by the store, or else fetched by one of those that ask.
   * @throws what fetching threw, unless that concerns only the one that fetched, and the signal's reason
   */
  async get(definition: ToolsetDefinition, request: CatalogRequest): Promise<Catalog> {
    for (;;) {
      const entry = this.entryOf(definition, request.key);
      if (entry.catalog && performance.now() < entry.staleAt) return entry.catalog;
      if (!entry.fetching) {
        entry.fetching = this.fetched(entry, definition, request).finally(() => (entry.fetching = undefined));
        return entry.fetching;
      }
      try {
        return await untilAborted(entry.fetching, request.signal);
      } catch (error) {
        const isTheServers = (ProviderError.is(error) || ProtocolError.is(error)) && !isAboutCredentials(error);
        if (request.signal.aborted || isTheServers) throw error;
      }
    }
  }

  /** Has the next run fetch the catalog again. */
  drop(definition: ToolsetDefinition, { key, logger }: Pick<CatalogRequest, 'key' | 'logger'>): void {
    const entries = this.entries.get(definition);
    const entry = entries?.get(key);
    if (!entry) return;
    entries?.delete(key);
    // What is being written would come after it.
    void entry.written.then(() =>
      this.ask({ name: definition.name, logger }, 'delete', (store) => store.delete(this.storeKey(definition, key))),
    );
  }

  private entryOf(definition: ToolsetDefinition, key: string): Entry {
    const entries = this.entries.get(definition) ?? new Map<string, Entry>();
    this.entries.set(definition, entries);
    const entry = entries.get(key) ?? { staleAt: 0, fetching: undefined, written: Promise.resolve() };
    entries.delete(key);
    entries.set(key, entry);
    const [oldest] = entries.keys();
    if (entries.size > MOST_CATALOGS && oldest !== undefined) entries.delete(oldest);
    return entry;
  }

  private async fetched(entry: Entry, definition: ToolsetDefinition, request: CatalogRequest): Promise<Catalog> {
    const { ttl, logger } = request;
    const kept = await this.kept(definition, request);
    const catalog = frozen(kept?.catalog ?? (await request.read()));
    entry.catalog = catalog;
    entry.staleAt = performance.now() + ttl - (kept?.age ?? 0);
    if (!kept) {
      const value = { at: Date.now(), tools: catalog };
      entry.written = this.ask({ name: definition.name, logger }, 'set', (store) =>
        store.set(this.storeKey(definition, request.key), value, ttl),
      ).then(() => undefined);
    }
    return catalog;
  }

  /** What the store has kept, if that is a catalog and not older than it may be. */
  private async kept(
    definition: ToolsetDefinition,
    { key, ttl, logger, check }: CatalogRequest,
  ): Promise<{ catalog: Catalog; age: number } | undefined> {
    const value = await this.ask({ name: definition.name, logger }, 'get', (store) =>
      store.get(this.storeKey(definition, key)),
    );
    const { at, tools } = Object(value) as { at?: unknown; tools?: unknown };
    if (value === undefined || value === null) return undefined;
    const age = Math.max(0, Date.now() - Number(at));
    if (age >= ttl) return undefined;
    try {
      if (!Number.isFinite(age)) throw new ProtocolError('it does not say from when it is');
      return { catalog: await check(tools), age };
    } catch (error) {
      logger.warn(`Toolset ${definition.name}: what the CatalogStore has kept is not used: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** Asks the store, in bounded time; its failure is a warning. */
  private async ask(
    { name, logger }: { readonly name: string; readonly logger: Logger },
    what: 'get' | 'set' | 'delete',
    use: (store: CatalogStore) => PromiseLike<unknown> | undefined,
  ): Promise<unknown> {
    if (this.keepsNothing) return undefined;
    try {
      return await boundedWait(STORE_BOUND, (async () => use(this.store))());
    } catch (error) {
      if (ConfigurationError.is(error)) throw error;
      logger.warn(`Toolset ${name}: the CatalogStore failed to ${what} a catalog: ${messageOf(error)}`);
      return undefined;
    }
  }

  private get keepsNothing(): boolean {
    return this.store.constructor === CatalogStore;
  }

  /** Never holds what the application's key may: that can be personal. */
  private storeKey(definition: ToolsetDefinition, key: string): string {
    const { name } = definition;
    const other = this.names.get(name)?.deref();
    if (other !== undefined && other !== definition) {
      throw new ConfigurationError(
        `Toolset ${name}: another toolset of this name keeps its catalogs in the same CatalogStore. Give one of them ` +
          'another "name".',
        { toolset: name },
      );
    }
    this.names.set(name, new WeakRef(definition));
    const content = JSON.stringify([addressOf(definition), key]);
    return `mcp-toolset:1:${name}:${createHash('sha256').update(content).digest('hex')}`;
  }
}

/** Where the server is, as far as the declaration says. */
function addressOf({ source }: ToolsetDefinition): unknown {
  if (source.kind === 'factory' || typeof source.connection === 'function') return null;
  const { connection } = source;
  return 'url' in connection ? String(connection.url) : [connection.command, connection.args, connection.cwd];
}

const shared = new WeakMap<CatalogStore, SharedCatalogs>();

/** The catalogs that the runs of a store share. */
export function sharedCatalogsOf(store: CatalogStore): SharedCatalogs {
  const catalogs = shared.get(store) ?? new SharedCatalogs(store);
  shared.set(store, catalogs);
  return catalogs;
}

/** What many runs are given, none of them may change. Never recurses, however deep the values are. */
function frozen(catalog: Catalog): Catalog {
  const left: object[] = [catalog];
  for (let value = left.pop(); value; value = left.pop()) {
    Object.freeze(value);
    for (const inner of Object.values(value) as unknown[]) {
      if (typeof inner === 'object' && inner !== null && !Object.isFrozen(inner)) left.push(inner);
    }
  }
  return catalog;
}
