import type { DependencyContainer } from 'tsyringe';
import { Attached } from '../run/attached';
import { CatalogStore } from './catalog-store';
import { ClientFactory } from './client-factory';
import { SharedCatalogs } from './shared-catalogs';
import { WarmSessions } from './warm-sessions';

/** What runs share whose clients come from the same factory. */
export interface SharingScope {
  readonly catalogs: SharedCatalogs;
  readonly sessions: WarmSessions;
}

const scopes = new Attached<object, Attached<CatalogStore, SharingScope>>();

/**
 * What the runs of a container share. Those whose clients an application's own factory makes share with nobody else, and
 * nothing by a store: that one cannot tell their servers apart.
 */
export function sharingScope(container: DependencyContainer): SharingScope {
  const factory = container.resolve(ClientFactory);
  const store = container.resolve(CatalogStore);
  const isOurs = factory.constructor === ClientFactory;
  const owner = isOurs ? ClientFactory : factory;
  const byStore = scopes.of(owner, () => new Attached());
  const keeps = isOurs && store.constructor !== CatalogStore;
  return byStore.of(store, () => ({
    catalogs: new SharedCatalogs(keeps ? store : undefined),
    sessions: new WarmSessions(),
  }));
}
