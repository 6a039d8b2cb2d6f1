import { injectable } from 'tsyringe';
import { ProtocolError, ProviderError, type McpToolsetError } from '../errors';
import { untilAborted } from '../run/abort';
import type { Run } from '../run/run';
import { mergeLimits, settingsOf } from '../settings';
import type { ToolBinding } from '../tool/tool-binding';
import type { ToolProvider } from '../tool/tool-provider';
import type { McpToolClass } from '../toolset/callbacks';
import type { UnconnectedClient } from '../toolset/client-source';
import { toolsetDefinition, type ToolsetClass, type ToolsetDefinition } from '../toolset/definition';
import { ClientFactory } from './client-factory';
import { Handlers } from './handlers';
import type { OfferedTool } from './offered-tool';
import { offeredTools } from './offered-tools';
import { callback, uncarried } from './request-failure';
import { Session } from './session';
import { callMethod, toolsetInstance } from './toolset-instance';

/** What was discovered in one run, so that discovering twice gives the same classes. */
const discovered = new WeakMap<Run, Map<ToolsetDefinition, Promise<OfferedTool[]>>>();

/** Resolves when no discovery for the run is under way; those of a run that has ended have then closed what they opened. */
export async function discoveriesSettled(run: Run): Promise<void> {
  await Promise.allSettled([...(discovered.get(run)?.values() ?? [])]);
}

/** Makes tool classes from what the servers of toolsets publish. */
@injectable()
export class ToolsetDiscovery {
  /**
   * Connects to the server of a toolset and generates a class for every tool that it offers. Within a run, discovering a
   * toolset again gives the same classes. Without a run, whoever instantiates a class closes the instance.
   * @throws ConfigurationError, ProviderError, ProtocolError, CancelledError, DeadlineExceededError, or what a callback
   * threw; nothing stays open then. An optional toolset has no tools instead where the server is at fault.
   */
  async discover(toolset: ToolsetClass, binding: ToolBinding): Promise<McpToolClass[]> {
    return (await offer(toolset, binding)).map(({ toolClass }) => toolClass);
  }

  /** A provider of the tools of a toolset, as `ToolRegistry#register` takes it. */
  provider(toolset: ToolsetClass): ToolProvider {
    return { tools: (binding) => this.discover(toolset, binding) };
  }
}

/**
 * What a toolset offers, for a registry, which needs no class of a tool that is not called. It is undefined where the
 * application has a discovery of its own, which has to be asked for the classes.
 */
export function offerOf(
  discovery: ToolsetDiscovery,
  toolset: ToolsetClass,
  binding: ToolBinding,
): Promise<readonly OfferedTool[]> | undefined {
  return discovery.discover === ToolsetDiscovery.prototype.discover ? offer(toolset, binding) : undefined;
}

async function offer(toolset: ToolsetClass, binding: ToolBinding): Promise<readonly OfferedTool[]> {
  const definition = toolsetDefinition(toolset);
  binding.run?.check();
  return binding.run ? once(definition, binding, binding.run) : attempt(definition, binding);
}

function once(definition: ToolsetDefinition, binding: ToolBinding, run: Run): Promise<OfferedTool[]> {
  const inRun = discovered.get(run) ?? new Map<ToolsetDefinition, Promise<OfferedTool[]>>();
  discovered.set(run, inRun);
  const known = inRun.get(definition);
  if (known) return known;
  const discovering = attempt(definition, binding, () => inRun.delete(definition));
  inRun.set(definition, discovering);
  return discovering;
}

/** Discovers; for an optional toolset, a server at fault means no tools. A failure is not remembered. */
async function attempt(
  definition: ToolsetDefinition,
  binding: ToolBinding,
  forget?: () => void,
): Promise<OfferedTool[]> {
  try {
    return await open(definition, binding, forget);
  } catch (error) {
    forget?.();
    if (!definition.optional || !(ProviderError.is(error) || ProtocolError.is(error))) throw uncarried(error);
    await untilAborted(report(error, definition, binding), binding.run?.signal);
    return [];
  }
}

async function report(error: McpToolsetError, definition: ToolsetDefinition, binding: ToolBinding): Promise<void> {
  const { onError } = definition;
  if (onError !== undefined) await callMethod(toolsetInstance(definition, binding), onError, error, { binding });
}

/** The story: instance, client, session, catalog, tools. */
async function open(
  definition: ToolsetDefinition,
  binding: ToolBinding,
  onForget?: () => void,
): Promise<OfferedTool[]> {
  const { timeout, logger, ...settings } = settingsOf(binding.container);
  const limits = mergeLimits(settings.limits, definition.limits);
  const instance = await callback(() => toolsetInstance(definition, binding));
  const create = (): Promise<UnconnectedClient> =>
    callback(() => binding.container.resolve(ClientFactory).create(definition.toolset, binding));
  const handlers = new Handlers({ definition, instance, binding, limits, logger });
  const session = Session.prepare({ definition, binding, timeout, create, handlers, onForget });
  try {
    const origin = { definition, instance, session, limits, logger };
    const offered = await offeredTools(origin, binding);
    if (offered.length === 0 && !binding.run) await session.close();
    return offered;
  } catch (error) {
    await session
      .close()
      .catch((failure: unknown) =>
        logger.warn(`Toolset ${definition.name}: its connection could not be closed.`, failure),
      );
    throw error;
  }
}
