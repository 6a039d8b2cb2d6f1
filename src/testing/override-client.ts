import type { DependencyContainer } from 'tsyringe';
import { ConfigurationError } from '../errors';
import { ClientFactory } from '../mcp/client-factory';
import { showOnly } from '../run/show-only';
import type { ToolBinding } from '../tool/tool-binding';
import type { Awaitable, UnconnectedClient } from '../toolset/client-source';
import { isToolset, type ToolsetClass } from '../toolset/definition';

/** Something that gives out clients: a test server, or an object of the test's own. */
export interface ClientSourceForTests {
  /** A new client, unconnected, and its transport. */
  connect(): Awaitable<UnconnectedClient>;
}

class OverriddenClientFactory extends ClientFactory {
  constructor(
    private readonly overridden: ClientFactory,
    private readonly toolset: ToolsetClass,
    private readonly server: ClientSourceForTests,
  ) {
    super();
    showOnly(this, []);
  }

  override async create(toolset: ToolsetClass, binding: ToolBinding): Promise<UnconnectedClient> {
    return toolset === this.toolset ? this.server.connect() : this.overridden.create(toolset, binding);
  }
}

/**
 * Puts another server behind a toolset, for every run whose container is `container` or a child of it; other toolsets
 * keep theirs.
 * @throws ConfigurationError when the class is no toolset or the server has no `connect` method
 */
export function overrideClient(
  container: DependencyContainer,
  toolset: ToolsetClass,
  server: ClientSourceForTests,
): void {
  if (!isToolset(toolset)) {
    throw new ConfigurationError('overrideClient: expected a class marked @McpToolset() as the second argument.');
  }
  if (typeof server?.connect !== 'function') {
    throw new ConfigurationError('overrideClient: expected a server with connect(), as createTestServer() returns it.');
  }
  const factory = new OverriddenClientFactory(container.resolve(ClientFactory), toolset, server);
  container.registerInstance(ClientFactory, factory);
}
