import { injectable } from 'tsyringe';
import { z } from 'zod/v4';
import { ConfigurationError } from '../errors';
import { checkOptions, milliseconds } from '../options';
import type { CreateClientMethod, MapResultMethod, MapToolMethod, OnErrorMethod } from './callbacks';
import type { ConnectOptions } from './client-source';
import { toolsetDefinition, type ToolsetClass } from './definition';
import { ownMetadata, writeMetadata, type AnyClass, type DecoratedMethod, type MethodRole } from './metadata';
import { toolsetOptionsSchema, type ToolsetOptions } from './options';

/** A decorator for methods of the type `F`. */
export type MethodDecoratorOf<F> = <M extends F>(
  target: object,
  propertyKey: string | symbol,
  descriptor: TypedPropertyDescriptor<M>,
) => void;

/**
 * Marks a class as a toolset, one MCP server as a provider of tools, and makes it injectable.
 * @throws ConfigurationError for an unknown or faulty option, or when the class has no source of clients or two
 */
export function McpToolset(options: ToolsetOptions = {}): (toolset: ToolsetClass) => void {
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
export function CreateClient(connectOptions: ConnectOptions = {}): MethodDecoratorOf<CreateClientMethod> {
  return (target, key, descriptor: PropertyDescriptor | undefined) => {
    const where = decorate({ target, key, descriptor, role: 'createClient', decorator: '@CreateClient()' });
    checkOptions(connectOptionsSchema, connectOptions, { where });
    addMethod(target, 'createClient', { method: key, connectOptions: Object.freeze({ ...connectOptions }) });
  };
}

/** Marks the method that chooses and changes the generated tool classes of a run. */
export function MapTool(): MethodDecoratorOf<MapToolMethod> {
  return methodRole('mapTool', '@MapTool()');
}

/** Marks the method that turns the value of every result into what application and model are given. */
export function MapResult(): MethodDecoratorOf<MapResultMethod> {
  return methodRole('mapResult', '@MapResult()');
}

/** Marks the method that is told why an optional toolset has no tools. */
export function OnError(): MethodDecoratorOf<OnErrorMethod> {
  return methodRole('onError', '@OnError()');
}

function methodRole<F>(role: MethodRole, decorator: string): MethodDecoratorOf<F> {
  return (target, key, descriptor: PropertyDescriptor | undefined) => {
    decorate({ target, key, descriptor, role, decorator });
    addMethod(target, role, { method: key });
  };
}

interface Decoration {
  readonly target: object;
  readonly key: string | symbol;
  readonly descriptor: PropertyDescriptor | undefined;
  readonly role: MethodRole;
  readonly decorator: string;
}

/** Checks where a decorator stands, and returns how errors call the place. */
function decorate({ target, key, descriptor, role, decorator }: Decoration): string {
  const isStatic = typeof target === 'function';
  const owner = (isStatic ? target : target.constructor) as AnyClass;
  const where = `${owner.name}#${String(key)}, ${decorator}`;
  if (isStatic) throw new ConfigurationError(`${where}: the member is static; mark a method of the instance.`);
  if (typeof descriptor?.value !== 'function') {
    throw new ConfigurationError(`${where}: the member is not a method; mark a method.`);
  }
  const other = ownMetadata(owner).methods[role];
  if (other) {
    throw new ConfigurationError(`${where}: ${String(other.method)} is marked ${decorator} already; keep one of them.`);
  }
  return where;
}

function addMethod(target: object, role: MethodRole, method: DecoratedMethod): void {
  writeMetadata(target.constructor as AnyClass, { methods: { [role]: method } });
}
