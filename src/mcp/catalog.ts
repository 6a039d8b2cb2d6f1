import { ProtocolError, ProviderError, traitOf } from '../errors';
import { nextTurn } from '../run/next-turn';
import type { Limits, Logger } from '../settings';
import type { McpToolDefinition } from '../toolset/callbacks';
import { quoted } from './quoted';
import { SchemaBudget } from './schema-budget';

const METHOD_NOT_FOUND = -32601;

/** The usable definitions that a server lists. */
export type Catalog = readonly McpToolDefinition[];

type Page = Readonly<Record<string, unknown>>;

/** A way to ask for one page of `tools/list`. */
export type PageReader = (params: { readonly cursor?: string }) => Promise<Page>;

/** Where a run has the catalog of a toolset from. */
export interface CatalogSource {
  /** Whether other runs are given the same one. */
  readonly isShared: boolean;
  /**
   * The catalog; `readPage` asks the server, if that is needed.
   * @throws what reading throws, ProtocolError when the list is broken or over a limit
   */
  read(readPage: PageReader): Promise<Catalog>;
  /** Has the next run ask the server again. */
  drop(): void;
}

/** What reading a catalog needs to know. */
export interface ListingOptions {
  readonly toolset: string;
  readonly limits: Limits;
  readonly logger: Logger;
}

/**
 * Reads the whole catalog of a server (MCP specification, Tools, listing tools, and Pagination): every usable definition
 * once, as the server sent it. What is unusable is left out with a warning.
 * @throws ProtocolError when the list is broken or over a limit
 */
export async function readCatalog(readPage: PageReader, options: ListingOptions): Promise<Catalog> {
  const listing = new Listing(options);
  let page: Page | undefined = await readPage({}).catch(noneWithoutMethod);
  while (page) {
    const cursor = listing.begin(page);
    const next: Promise<Page> | undefined = cursor === undefined ? undefined : readPage({ cursor });
    // What is wrong with this page is told before what comes of the next.
    void next?.catch(() => undefined);
    // By then the server is asked, and makes it while the entries are looked through.
    if (next) await nextTurn();
    listing.addEntries(page);
    page = await next;
  }
  return listing.finish();
}

/** A server that does not know the method has no tools. */
function noneWithoutMethod(error: unknown): Page {
  if (!ProviderError.is(error) || traitOf(error.cause, 'code') !== METHOD_NOT_FOUND) throw error;
  return { tools: [] };
}

/** The pages of a list, as they come. */
class Listing {
  private readonly definitions = new Map<string, McpToolDefinition>();
  private readonly cursors = new Set<string>();
  private readonly budget: SchemaBudget;
  private entries = 0;
  private pages = 0;

  constructor(private readonly options: ListingOptions) {
    this.budget = new SchemaBudget(options.limits, options.toolset);
  }

  /** Takes a page in, but for its entries, and returns the cursor of the next. */
  begin(page: Page): string | undefined {
    const { tools } = page;
    this.pages += 1;
    if (!Array.isArray(tools)) throw this.broken(`page ${this.pages}: expected "tools" to be an array`);
    if (this.entries + tools.length > this.options.limits.maxTools) throw this.over('maxTools', 'tools');
    return this.nextCursor(page.nextCursor);
  }

  /** Adds the entries of a page that has begun. */
  addEntries({ tools }: Page): void {
    for (const entry of tools as unknown[]) this.addEntry(entry);
  }

  finish(): Catalog {
    if (this.entries > 0 && this.definitions.size === 0) {
      throw this.broken(`not one of its ${this.entries} entries is usable`);
    }
    return [...this.definitions.values()];
  }

  private addEntry(entry: unknown): void {
    this.entries += 1;
    const fault = this.faultOf(entry);
    const definition = entry as McpToolDefinition;
    if (fault !== undefined) {
      const name = entryName(entry) ?? `entry ${this.entries}`;
      this.options.logger.warn(`Toolset ${this.options.toolset}: ${name} of the server's list is left out: ${fault}.`);
      return;
    }
    this.budget.spend(definition.inputSchema, definition.name);
    this.budget.spend(definition.outputSchema, definition.name);
    this.definitions.set(definition.name, definition);
  }

  private faultOf(entry: unknown): string | undefined {
    if (!isObject(entry)) return 'it is no object';
    const { name, inputSchema } = entry;
    if (typeof name !== 'string' || name === '') return 'it has no name';
    if (inputSchema !== undefined && inputSchema !== null && !isObject(inputSchema))
      return 'its inputSchema is no object';
    return this.definitions.has(name) ? 'its name is used by an earlier entry' : undefined;
  }

  private nextCursor(cursor: unknown): string | undefined {
    const { maxCursorBytes, maxPages } = this.options.limits;
    if (cursor === undefined || cursor === null) return undefined;
    if (typeof cursor !== 'string') throw this.broken(`page ${this.pages}: expected "nextCursor" to be a string`);
    if (Buffer.byteLength(cursor) > maxCursorBytes) throw this.over('maxCursorBytes', 'bytes in a cursor');
    if (this.cursors.has(cursor))
      throw this.broken(`page ${this.pages}: its cursor was given before, so the list never ends`);
    if (this.pages >= maxPages) throw this.over('maxPages', 'pages');
    this.cursors.add(cursor);
    return cursor;
  }

  private broken(message: string): ProtocolError {
    const { toolset } = this.options;
    return new ProtocolError(`Toolset ${toolset}, tools/list, ${message}. Report it to the maker of the server.`, {
      toolset,
    });
  }

  private over(limit: 'maxTools' | 'maxPages' | 'maxCursorBytes', what: string): ProtocolError {
    const { toolset, limits } = this.options;
    return new ProtocolError(
      `Toolset ${toolset}, tools/list: more than ${limits[limit]} ${what} (limit ${limit}). ` +
        'Raise the limit if the server is trusted.',
      { toolset },
    );
  }
}

function entryName(entry: unknown): string | undefined {
  const name = isObject(entry) ? entry.name : undefined;
  return typeof name === 'string' && name !== '' ? quoted(name) : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
