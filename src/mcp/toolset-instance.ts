import type { InjectionToken } from 'tsyringe';
import { ConfigurationError, McpToolsetError, messageOf } from '../errors';
import { Attached } from '../run/attached';
import { identityOf, type RunIdentity } from '../run/identity';
import { injectionHint } from '../run/injection-hint';
import type { ToolBinding } from '../tool/tool-binding';
import type { ToolsetDefinition } from '../toolset/definition';
import { ownMetadata } from '../toolset/metadata';

const instances = new Attached<object, Map<ToolsetDefinition, object>>();
const served = new WeakMap<object, RunIdentity>();

/**
 * The instance of a toolset class that serves a run, made by the run's container when it is first needed. Without a run,
 * a binding has its own.
 * @throws ConfigurationError when the container cannot make it, or gives one that serves another run
 */
export function toolsetInstance(definition: ToolsetDefinition, binding: ToolBinding): object {
  const made = instances.of(binding.run ?? binding, () => new Map());
  const instance = made.get(definition) ?? forOneRun(resolve(definition, binding), definition, binding);
  made.set(definition, instance);
  return instance;
}

function forOneRun(instance: object, { toolset, name }: ToolsetDefinition, { run }: ToolBinding): object {
  const identity = identityOf(run);
  if ((served.get(instance) ?? identity) !== identity) {
    throw new ConfigurationError(
      `Toolset ${name}: one instance of ${toolset.name} was resolved for two runs. Toolsets are made per run: do not ` +
        'register the class as a singleton.',
      { toolset: name },
    );
  }
  served.set(instance, identity);
  return instance;
}

function resolve({ toolset, name }: ToolsetDefinition, binding: ToolBinding): object {
  try {
    return binding.container.resolve(toolset as unknown as InjectionToken<object>);
  } catch (cause) {
    if (McpToolsetError.is(cause)) throw cause;
    const message = messageOf(cause);
    const isMarked = ownMetadata(toolset).options !== undefined;
    const hint = injectionHint(message, toolset, isMarked ? undefined : '@McpToolset() too');
    throw new ConfigurationError(
      `Toolset ${name}: the container could not make an instance of ${toolset.name}: ${message}${hint}`,
      { cause, toolset: name },
    );
  }
}

/** Calls a method of a toolset's instance by its name. */
export function callMethod(instance: object, method: string | symbol, ...args: readonly unknown[]): unknown {
  const implementation = (instance as Record<string | symbol, unknown>)[method];
  return (implementation as (...args: unknown[]) => unknown).apply(instance, [...args]);
}
