import { ConfigurationError } from '../errors';
import { NEVER } from '../run/abort';
import type { Limits, Logger } from '../settings';
import type { ToolBinding } from '../tool/tool-binding';
import type { ToolsetDefinition } from '../toolset/definition';
import { readCatalog, type Catalog, type PageReader } from './catalog';
import { CatalogStore } from './catalog-store';
import { callback } from './request-failure';
import { sharedCatalogsOf } from './shared-catalogs';

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

interface CatalogSourceOptions {
  readonly definition: ToolsetDefinition;
  readonly binding: ToolBinding;
  readonly limits: Limits;
  readonly logger: Logger;
}

/**
 * The source of a run's catalog: the server, or what the runs of its key share.
 * @throws ConfigurationError when the application's key is none, and what its function throws
 */
export async function catalogSource(options: CatalogSourceOptions): Promise<CatalogSource> {
  const { definition, binding, limits, logger } = options;
  const reading = { toolset: definition.name, limits, logger };
  if (!definition.catalog) {
    return { isShared: false, read: (readPage) => readCatalog(readPage, reading), drop: () => undefined };
  }
  const { ttl } = definition.catalog;
  const key = await keyOf(definition, binding);
  const shared = sharedCatalogsOf(binding.container.resolve(CatalogStore));
  const signal = binding.run?.signal ?? NEVER;
  const check = (tools: unknown): Promise<Catalog> => readCatalog(() => Promise.resolve({ tools }), reading);
  return {
    isShared: true,
    read: (readPage) =>
      shared.get(definition, { ttl, key, signal, logger, check, read: () => readCatalog(readPage, reading) }),
    drop: () => shared.drop(definition, { key, logger }),
  };
}

async function keyOf({ catalog, name }: ToolsetDefinition, binding: ToolBinding): Promise<string> {
  if (!catalog?.key) return '';
  const { key } = catalog;
  const value: unknown = await callback(() => key(binding));
  if (typeof value === 'string' && value !== '') return value;
  throw new ConfigurationError(
    `Toolset ${name}: the "key" of option "catalog" returned ${JSON.stringify(value)}; expected a string that is not ` +
      'empty: whose catalog it is.',
    { toolset: name },
  );
}
