import { NEVER } from '../run/abort';
import type { Limits, Logger } from '../settings';
import type { ToolBinding } from '../tool/tool-binding';
import type { ToolsetDefinition } from '../toolset/definition';
import { readCatalog, type Catalog, type PageReader } from './catalog';
import { CatalogStore } from './catalog-store';
import { sharedCatalogsOf } from './shared-catalogs';
import { sharingKey } from './sharing-key';

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
  const { ttl, key: keyFor } = definition.catalog;
  const key = keyFor ? await sharingKey(keyFor, binding, { toolset: definition.name, option: 'catalog' }) : '';
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
