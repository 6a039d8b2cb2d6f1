import type { DependencyContainer, InjectionToken } from 'tsyringe';
import { ConfigurationError } from '../errors';
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
 * What the runs of a container share for a toolset. Those whose clients an application's own factory makes share with
 * nobody else, and nothing by a store: that one cannot tell their servers apart.
 * @throws ConfigurationError where the container makes a factory or a store anew each time, by which nothing is shared
 */
export function sharingScope(container: DependencyContainer, toolset: string): SharingScope {
  const factory = container.resolve(ClientFactory);
  const store = one(CatalogStore, container, toolset);
  const isOurs = factory.constructor === ClientFactory;
  const owner = isOurs ? ClientFactory : one(ClientFactory, container, toolset);
  const byStore = scopes.of(owner, () => new Attached());
  const keeps = isOurs && store.constructor !== CatalogStore;
  return byStore.of(store, () => ({
    catalogs: new SharedCatalogs(keeps ? store : undefined),
    sessions: new WarmSessions(),
  }));
}

function one<T extends object>(token: new (...args: never[]) => T, container: DependencyContainer, toolset: string): T {
  const instance = container.resolve<T>(token as InjectionToken<T>);
  if (container.resolve(token as InjectionToken<T>) === instance) return instance;
  throw new ConfigurationError(
    `Toolset ${toolset}: the container makes a new ${instance.constructor.name} whenever it is asked for a ${token.name}, ` +
      'so runs would share nothing. Register one instance, by registerInstance or registerSingleton.',
    { toolset },
  );
}
