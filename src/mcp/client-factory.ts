import { injectable } from 'tsyringe';
import { settingsOf } from '../settings';
import type { ToolBinding } from '../tool/tool-binding';
import type { ConnectionOptions, ConnectionSource, UnconnectedClient } from '../toolset/client-source';
import { checkConnection } from '../toolset/connection-options';
import { toolsetDefinition, type ToolsetClass, type ToolsetDefinition } from '../toolset/definition';
import { unconnectedClient } from './connection/unconnected-client';
import { callMethod, toolsetInstance } from './toolset-instance';

/** Builds the client of a toolset for one run. Override it in a container to put another server behind a toolset. */
@injectable()
export class ClientFactory {
  /**
   * A new official client and transport, unconnected.
   * @throws ConfigurationError for a faulty declaration, and what the application's own factory or function threw
   */
  async create(toolset: ToolsetClass, binding: ToolBinding): Promise<UnconnectedClient> {
    const definition = toolsetDefinition(toolset);
    const { source, name } = definition;
    if (source.kind === 'factory') {
      const instance = toolsetInstance(definition, binding);
      return (await callMethod(instance, source.method, binding)) as UnconnectedClient;
    }
    const options = await connectionOptions(source.connection, binding, name);
    const { clientInfo } = settingsOf(binding.container);
    return unconnectedClient(options, { clientInfo, listens: listens(definition) });
  }
}

/** Whether a server has something to ask or tell outside of a call that the toolset would hear. */
function listens({ handlers, catalog }: ToolsetDefinition): boolean {
  return catalog !== undefined || Object.keys(handlers).some((role) => role !== 'onProgress');
}

async function connectionOptions(
  connection: ConnectionSource,
  binding: ToolBinding,
  toolset: string,
): Promise<ConnectionOptions> {
  if (typeof connection !== 'function') return connection;
  return checkConnection(await connection(binding), toolset);
}
