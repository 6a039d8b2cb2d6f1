import type { DependencyContainer } from 'tsyringe';
import { ConfigurationError } from '../errors';
import { ClientFactory } from '../mcp/client-factory';
import type { ToolBinding } from '../tool/tool-binding';
import type { Awaitable, UnconnectedClient } from '../toolset/client-source';
import { isToolset, type ToolsetClass } from '../toolset/definition';

/** Something that gives out clients: a test server, or an object of the test's own. */
export interface ClientSourceForTests {
  /** A new client, unconnected, and its transport. */
  connect(): Awaitable<UnconnectedClient>;
}

class OverriddenClientFactory extends ClientFactory {
  readonly overrides = new Map<ToolsetClass, ClientSourceForTests>();

  constructor(private readonly fallback: ClientFactory) {
    super();
  }

  override async create(toolset: ToolsetClass, binding: ToolBinding): Promise<UnconnectedClient> {
    return this.overrides.get(toolset)?.connect() ?? this.fallback.create(toolset, binding);
  }
}

const factories = new WeakMap<DependencyContainer, OverriddenClientFactory>();

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
  const factory = factories.get(container) ?? new OverriddenClientFactory(container.resolve(ClientFactory));
  factories.set(container, factory);
  factory.overrides.set(toolset, server);
  container.registerInstance(ClientFactory, factory);
}
