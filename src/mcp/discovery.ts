import { injectable } from 'tsyringe';
import { ProtocolError, ProviderError, type McpToolsetError } from '../errors';
import { untilAborted } from '../run/abort';
import { Attached } from '../run/attached';
import { endOf, type Run } from '../run/run';
import { mergeLimits, settingsOf } from '../settings';
import type { ToolBinding } from '../tool/tool-binding';
import type { ToolProvider } from '../tool/tool-provider';
import type { McpToolClass } from '../toolset/callbacks';
import type { UnconnectedClient } from '../toolset/client-source';
import { toolsetDefinition, type ToolsetClass, type ToolsetDefinition } from '../toolset/definition';
import { catalogSource } from './catalog-source';
import { ClientFactory } from './client-factory';
import { Handlers } from './handlers';
import { offeredTools, type Offer } from './offered-tools';
import { callback, uncarried } from './request-failure';
import { Session } from './session';
import { callMethod, toolsetInstance } from './toolset-instance';
import { warmSource } from './warm-source';

/** What was discovered in one run, so that discovering twice gives the same classes. */
const offers = new Attached<Run, Map<ToolsetDefinition, Promise<Offer>>>();

/** Resolves when no discovery for the run is under way; those of a run that has ended have then closed what they opened. */
export async function discoveriesSettled(run: Run): Promise<void> {
  await Promise.allSettled([...(offers.get(run)?.values() ?? [])]);
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
    const { tools } = await discovered(toolset, binding);
    return tools.map(({ toolClass }) => toolClass);
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
): Promise<Offer> | undefined {
  return discovery.discover === ToolsetDiscovery.prototype.discover ? discovered(toolset, binding) : undefined;
}

async function discovered(toolset: ToolsetClass, binding: ToolBinding): Promise<Offer> {
  const definition = toolsetDefinition(toolset);
  binding.run?.check();
  return binding.run ? once(definition, binding, binding.run) : attempt(definition, binding);
}

function once(definition: ToolsetDefinition, binding: ToolBinding, run: Run): Promise<Offer> {
  const inRun = offers.of(run, () => new Map());
  const known = inRun.get(definition);
  if (known) return known;
  const discovering = attempt(definition, binding, () => inRun.delete(definition));
  inRun.set(definition, discovering);
  return discovering;
}

/** Discovers; for an optional toolset, a server at fault means no tools. A failure is not remembered. */
async function attempt(definition: ToolsetDefinition, binding: ToolBinding, forget?: () => void): Promise<Offer> {
  try {
    return await open(definition, binding, forget);
  } catch (error) {
    forget?.();
    if (!definition.optional || !(ProviderError.is(error) || ProtocolError.is(error))) throw uncarried(error);
    await untilAborted(report(error, definition, binding), endOf(binding.run));
    return { tools: [] };
  }
}

async function report(error: McpToolsetError, definition: ToolsetDefinition, binding: ToolBinding): Promise<void> {
  const { onError, name } = definition;
  if (onError !== undefined) await callMethod(toolsetInstance(definition, binding), onError, error, { binding });
  else
    settingsOf(binding.container).logger.warn(
      `Toolset ${name} is optional, and has no tools in this run: ${error.message}`,
    );
}

/** The story: instance, catalog, session, tools; the session has its client when it is first needed. */
async function open(definition: ToolsetDefinition, binding: ToolBinding, onForget?: () => void): Promise<Offer> {
  const { timeout, logger, ...settings } = settingsOf(binding.container);
  const limits = mergeLimits(settings.limits, definition.limits);
  const instance = await callback(() => toolsetInstance(definition, binding));
  const warm = await warmSource(definition, binding);
  const catalog = await catalogSource({ definition, binding, limits, logger });
  const create = (): Promise<UnconnectedClient> =>
    callback(() => binding.container.resolve(ClientFactory).create(definition.toolset, binding));
  const handlers = new Handlers({ definition, instance, binding, catalog, limits, logger });
  const session = Session.prepare({ definition, binding, timeout, create, handlers, warm, onForget });
  try {
    const origin = { definition, instance, session, catalog, limits, logger };
    const tools = await offeredTools(origin, binding);
    if (tools.length === 0 && !binding.run) await session.close();
    return { tools, session };
  } catch (error) {
    await session
      .close()
      .catch((failure: unknown) =>
        logger.warn(`Toolset ${definition.name}: its connection could not be closed.`, failure),
      );
    throw error;
  }
}
