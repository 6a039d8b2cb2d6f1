import { injectable } from 'tsyringe';
import { z } from 'zod/v4';
import { ConfigurationError } from '../errors';
import { checkOptions, milliseconds } from '../options';
import type { CreateClientMethod, MapResultMethod, MapToolMethod, OnErrorMethod } from './callbacks';
import type { ConnectOptions } from './client-source';
import { toolsetDefinition, type ToolsetClass } from './definition';
import { ownMetadata, writeMetadata } from './metadata';
import { addMethod, decorate, methodRole, type MethodDecoratorOf } from './method-role';
import { toolsetOptionsSchema, type ToolsetOptions } from './options';

/**
 * Marks a class as a toolset, one MCP server as a provider of tools, and makes it injectable.
 * @throws ConfigurationError for an unknown or faulty option, or when the class has no source of clients or two
 */
export function McpToolset(options: ToolsetOptions = {}): (toolset: ToolsetClass) => void {
  if (typeof options === 'function') throw new ConfigurationError('Write @McpToolset(), with parentheses.');
  return (toolset) => {
    checkOptions(toolsetOptionsSchema, options, {
      where: `Toolset ${toolset.name}, @McpToolset()`,
      toolset: toolset.name,
    });
    if (ownMetadata(toolset).options) {
      throw new ConfigurationError(`Toolset ${toolset.name} is marked @McpToolset() twice.`, { toolset: toolset.name });
    }
    writeMetadata(toolset, { options: Object.freeze({ ...options }) });
    injectable()(toolset);
    toolsetDefinition(toolset);
  };
}

const connectOptionsSchema = z.looseObject({ timeout: milliseconds.optional() });

/**
 * Marks the method that builds a new, unconnected official client for a run; `connectOptions` are forwarded to the
 * client's `connect`.
 */
export function CreateClient(connectOptions?: ConnectOptions): MethodDecoratorOf<CreateClientMethod>;
export function CreateClient(
  connectOptions: ConnectOptions = {},
  ...none: unknown[]
): MethodDecoratorOf<CreateClientMethod> {
  if (none.length > 0) throw new ConfigurationError('Write @CreateClient(), with parentheses.');
  return (target, key, descriptor: PropertyDescriptor | undefined) => {
    const where = decorate({ target, key, descriptor, role: 'createClient', decorator: '@CreateClient()' });
    checkOptions(connectOptionsSchema, connectOptions, { where });
    addMethod(target, 'createClient', { method: key, connectOptions: Object.freeze({ ...connectOptions }) });
  };
}

/** Marks the method that chooses and changes the generated tool classes of a run. */
export function MapTool(): MethodDecoratorOf<MapToolMethod>;
export function MapTool(...none: unknown[]): MethodDecoratorOf<MapToolMethod> {
  return methodRole('mapTool', '@MapTool()', none);
}

/** Marks the method that turns the value of every result into what application and model are given. */
export function MapResult(): MethodDecoratorOf<MapResultMethod>;
export function MapResult(...none: unknown[]): MethodDecoratorOf<MapResultMethod> {
  return methodRole('mapResult', '@MapResult()', none);
}

/** Marks the method that is told why an optional toolset has no tools. */
export function OnError(): MethodDecoratorOf<OnErrorMethod>;
export function OnError(...none: unknown[]): MethodDecoratorOf<OnErrorMethod> {
  return methodRole('onError', '@OnError()', none);
}
