import { endOf } from '../run/run';
import type { Limits, Logger } from '../settings';
import type { ToolBinding } from '../tool/tool-binding';
import type { ToolsetDefinition } from '../toolset/definition';
import { readCatalog, type Catalog, type CatalogSource } from './catalog';
import { sharingKey } from './sharing-key';
import type { CatalogPlace, SharedCatalogs } from './shared-catalogs';
import { sharingScope } from './sharing-scope';

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
  const { catalogs } = sharingScope(binding.container, definition.name);
  const place = { definition, key, limits, logger };
  const signal = endOf(binding.run);
  const check = (tools: unknown): Promise<Catalog> => readCatalog(() => Promise.resolve({ tools }), reading);
  return {
    isShared: true,
    read: (readPage) => catalogs.get({ ...place, ttl, signal, check, read: () => readCatalog(readPage, reading) }),
    drop: dropping(catalogs, place),
  };
}

/** A function of its own: what is made beside others keeps what they keep, and a session that waits keeps this one. */
function dropping(catalogs: SharedCatalogs, place: CatalogPlace): () => void {
  return () => catalogs.drop(place);
}
