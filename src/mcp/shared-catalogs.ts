import { createHash } from 'node:crypto';
import {
  CancelledError,
  ConfigurationError,
  DeadlineExceededError,
  messageOf,
  ProtocolError,
  ProviderError,
} from '../errors';
import { untilAborted, type Abortable } from '../run/abort';
import type { Limits, Logger } from '../settings';
import type { ToolsetDefinition } from '../toolset/definition';
import { boundedWait } from './bounded-wait';
import type { Catalog } from './catalog';
import type { CatalogStore } from './catalog-store';
import { isAboutCredentials } from './failures';
import { frozen } from './frozen-catalog';

/** How many catalogs of one toolset the process remembers: those that were used last. */
const MOST_CATALOGS = 100;
/** How many runs fetch a catalog at a time, where the credentials of others were refused. */
const MOST_FETCHES = 8;
/** Milliseconds that a store has to answer. */
const STORE_BOUND = 500;

/** Where a catalog is shared. */
export interface CatalogPlace {
  readonly definition: ToolsetDefinition;
  /** Whose catalog it is. */
  readonly key: string;
  /** By what it was checked: what one container takes, another one may not. */
  readonly limits: Limits;
  readonly logger: Logger;
}

/** What a run needs of a catalog that it shares. */
export interface CatalogRequest extends CatalogPlace {
  /** Milliseconds that the catalog is good for. */
  readonly ttl: number;
  /** Ends the waiting, with its reason. */
  readonly signal: Abortable;
  /** Asks the server. */
  readonly read: () => Promise<Catalog>;
  /** Checks what a store has kept like an answer of the server. */
  readonly check: (tools: unknown) => Promise<Catalog>;
}

interface Entry {
  catalog?: Catalog;
  /** By the clock of `performance.now()`. */
  staleAt: number;
  /** Fetches in flight: one, unless what came of those before concerned only the runs that made them. */
  inFlight: number;
  /** Told how the next fetch ends. */
  readonly waiting: ((fetched: PromiseSettledResult<Catalog>) => void)[];
  /** What the store is told, one thing after the other. */
  told: Promise<unknown>;
  /** Whether the store has yet to be told that what it has kept is out of date. */
  isToBeForgotten?: boolean;
  /** Whether what the store has kept is out of date. */
  readonly isDropped: boolean;
}

/** The catalogs that the runs of one store, and of one source of clients, share. */
export class SharedCatalogs {
  private readonly entries = new WeakMap<ToolsetDefinition, Map<string, Entry>>();
  private readonly names = new Map<string, WeakRef<ToolsetDefinition>>();

  /** Without a store, only the process remembers them. */
  constructor(private readonly store: CatalogStore | undefined) {}

  /**
   * The catalog of a toolset under a key: remembered, kept by the store, or else fetched by one of those that ask.
   * @throws what fetching threw, unless that concerns only the one that fetched, the signal's reason, and
   * ConfigurationError where two toolsets of one name use the store
   */
  async get(request: CatalogRequest): Promise<Catalog> {
    const { definition, signal } = request;
    if (this.store) this.checkName(definition);
    let refused = 0;
    for (;;) {
      const entry = this.entryOf(request);
      if (entry.catalog && performance.now() < entry.staleAt) return entry.catalog;
      // Of those whose credentials are refused there may be any number, so several are tried at a time after one was.
      if (entry.inFlight < Math.min(2 ** refused, MOST_FETCHES)) return this.fetch(entry, request);
      const fetched = await untilAborted(endOfNext(entry), signal);
      if (fetched.status === 'fulfilled') return fetched.value;
      if (isTheServers(fetched.reason)) throw fetched.reason;
      if (!isOfTheEnd(fetched.reason)) refused += 1;
    }
  }

  /** Has the next run ask the server again. */
  drop(place: CatalogPlace): void {
    const { told, catalog, inFlight, isToBeForgotten } = this.entryOf(place);
    if (isToBeForgotten && !catalog && inFlight === 0) return;
    const entry = emptyEntry(true);
    entry.isToBeForgotten = true;
    entry.told = told.then(() => {
      entry.isToBeForgotten = false;
      return this.ask(place, 'delete', (store, key) => store.delete(key));
    });
    this.entriesOf(place).set(placeKey(place), entry);
  }

  private entriesOf({ definition }: CatalogPlace): Map<string, Entry> {
    const entries = this.entries.get(definition) ?? new Map<string, Entry>();
    this.entries.set(definition, entries);
    return entries;
  }

  private entryOf(place: CatalogPlace): Entry {
    const entries = this.entriesOf(place);
    const key = placeKey(place);
    const entry = entries.get(key) ?? emptyEntry(false);
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > MOST_CATALOGS) {
      const [oldest] = [...entries].find(([, { inFlight }]) => inFlight === 0) ?? [];
      if (oldest !== undefined && oldest !== key) entries.delete(oldest);
    }
    return entry;
  }

  private async fetch(entry: Entry, request: CatalogRequest): Promise<Catalog> {
    entry.inFlight += 1;
    const [fetched] = await Promise.allSettled([this.fetched(entry, request)]);
    entry.inFlight -= 1;
    for (const tell of entry.waiting.splice(0)) tell(fetched);
    if (fetched.status === 'rejected') throw fetched.reason;
    return fetched.value;
  }

  private async fetched(entry: Entry, request: CatalogRequest): Promise<Catalog> {
    const { ttl } = request;
    const kept = entry.isDropped ? undefined : await this.kept(request);
    const catalog = kept?.catalog ?? frozen(await request.read());
    // What was dropped while it was fetched is out of date.
    if (this.entriesOf(request).get(placeKey(request)) !== entry) return catalog;
    entry.catalog = catalog;
    entry.staleAt = performance.now() + ttl - (kept?.age ?? 0);
    if (!kept) {
      const value = { at: Date.now(), tools: catalog };
      entry.told = entry.told.then(() => this.ask(request, 'set', (store, key) => store.set(key, value, ttl)));
    }
    return catalog;
  }

  /** What the store has kept, if that is a catalog and not older than it may be. */
  private async kept(request: CatalogRequest): Promise<{ catalog: Catalog; age: number } | undefined> {
    const { definition, ttl, logger, check } = request;
    const value = await this.ask(request, 'get', (store, key) => store.get(key));
    if (value === undefined || value === null) return undefined;
    try {
      const { at, tools } = Object(value) as { at?: unknown; tools?: unknown };
      const age = Date.now() - Number(at);
      if (!Number.isFinite(age)) throw new ProtocolError('it does not say from when it is');
      // What comes from the future, by a clock that is ahead, is older than it seems.
      if (age < 0 || age >= ttl) return undefined;
      return { catalog: frozen(await check(tools)), age };
    } catch (error) {
      logger.warn(`Toolset ${definition.name}: what the CatalogStore has kept is not used: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** Asks the store, if there is one, in bounded time; its failure is a warning. */
  private async ask(
    place: CatalogPlace,
    what: 'get' | 'set' | 'delete',
    use: (store: CatalogStore, key: string) => PromiseLike<unknown> | undefined,
  ): Promise<unknown> {
    const { store } = this;
    if (!store) return undefined;
    try {
      return await boundedWait(STORE_BOUND, (async () => use(store, storeKey(place)))());
    } catch (error) {
      const { definition, logger } = place;
      logger.warn(`Toolset ${definition.name}: the CatalogStore failed to ${what} a catalog: ${messageOf(error)}`);
      return undefined;
    }
  }

  private checkName(definition: ToolsetDefinition): void {
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
  }
}

function emptyEntry(isDropped: boolean): Entry {
  return { staleAt: 0, inFlight: 0, waiting: [], told: Promise.resolve(), isDropped };
}

function endOfNext({ waiting }: Entry): Promise<PromiseSettledResult<Catalog>> {
  return new Promise((resolve) => waiting.push(resolve));
}

/** Whether a fetch failed for what its server did, and not for what concerns only the run that made it. */
function isTheServers(error: unknown): error is Error {
  return (ProviderError.is(error) || ProtocolError.is(error)) && !isAboutCredentials(error);
}

/** Whether a fetch failed because its run has ended. */
function isOfTheEnd(error: unknown): boolean {
  return CancelledError.is(error) || DeadlineExceededError.is(error);
}

function placeKey({ key, limits }: CatalogPlace): string {
  return JSON.stringify([key, limits]);
}

/** Never holds what the application's key may: that can be personal. */
function storeKey({ definition, key }: CatalogPlace): string {
  const content = JSON.stringify([addressOf(definition), key]);
  return `mcp-toolset:1:${definition.name}:${createHash('sha256').update(content).digest('hex')}`;
}

/** Where the server is, as far as the declaration says. */
function addressOf({ source }: ToolsetDefinition): unknown {
  if (source.kind === 'factory' || typeof source.connection === 'function') return null;
  const { connection } = source;
  return 'url' in connection ? String(connection.url) : [connection.command, connection.args, connection.cwd];
}
