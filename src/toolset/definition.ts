import { injectable } from 'tsyringe';
import { ConfigurationError } from '../errors';
import { defined } from '../options';
import type { LimitOptions } from '../settings';
import type { ClientSource } from './client-source';
import { checkConnection } from './connection-options';
import {
  HANDLER_ROLES,
  ownMetadata,
  type AnyClass,
  type ClassMetadata,
  type DecoratedMethod,
  type HandlerRole,
  type MethodRole,
} from './metadata';
import type { CatalogOptions, SessionOptions, TaskOptions, ToolSelection, ToolsetOptions } from './options';

/** A toolset class. Its instances are made by the run's container. */
export type ToolsetClass<T extends object = object> = new (...args: never[]) => T;

/** Everything that was declared about a toolset: checked, merged with its parents' and frozen. */
export interface ToolsetDefinition {
  readonly toolset: ToolsetClass;
  readonly name: string;
  readonly source: ClientSource;
  readonly optional: boolean;
  readonly timeout: number | undefined;
  readonly limits: LimitOptions;
  readonly calls: 'serial' | 'overlapping' | undefined;
  readonly tools: ToolSelection;
  readonly tasks: TaskOptions;
  readonly catalog: CatalogOptions | undefined;
  readonly session: SessionOptions | undefined;
  readonly mapTool: string | symbol | undefined;
  readonly mapResult: string | symbol | undefined;
  readonly onError: string | symbol | undefined;
  /** The methods that handle what the server asks and tells, by their role. */
  readonly handlers: Readonly<Partial<Record<HandlerRole, string | symbol>>>;
}

const definitions = new WeakMap<AnyClass, ToolsetDefinition>();

/** Whether a value is a class that is, or inherits from one that is, marked `@McpToolset`. */
export function isToolset(value: unknown): value is ToolsetClass {
  return typeof value === 'function' && lineage(value as AnyClass).some((type) => ownMetadata(type).options);
}

/**
 * The definition of a toolset class.
 * @throws ConfigurationError when the class is no toolset or its declaration is wrong
 */
export function toolsetDefinition(toolset: ToolsetClass): ToolsetDefinition {
  const known = definitions.get(toolset);
  if (known) return known;
  if (!isToolset(toolset)) {
    const { name } = Object(toolset) as { name?: unknown };
    const what = typeof name === 'string' && name !== '' ? name : `A value of type ${typeof toolset}`;
    throw new ConfigurationError(`${what} is not a toolset: mark the class with @McpToolset().`);
  }
  if (ownMetadata(toolset).options === undefined) adopt(toolset);
  const definition = define(toolset);
  definitions.set(toolset, definition);
  return definition;
}

/**
 * Makes a subclass that is not marked itself injectable like its parent. One whose constructor has parameters of its own
 * is left to the application, which may have made it injectable.
 */
function adopt(toolset: ToolsetClass): void {
  if (toolset.length === 0) injectable()(toolset);
}

function define(toolset: ToolsetClass): ToolsetDefinition {
  const line = lineage(toolset).map((type) => ownMetadata(type));
  const options = mergedOptions(line);
  const name = options.name ?? (toolset.name || '(anonymous toolset)');
  const role = (of: MethodRole): DecoratedMethod | undefined =>
    line.map(({ methods }) => methods[of]).findLast((method) => method !== undefined);
  const source = clientSource(line, name);
  checkKeys(options, source, name);
  return Object.freeze({
    toolset,
    name,
    source: Object.freeze(source),
    optional: options.optional ?? false,
    timeout: options.timeout,
    limits: Object.freeze({ ...options.limits }),
    calls: options.calls,
    tools: frozenSelection(options.tools),
    tasks: Object.freeze({ ...options.tasks }),
    session: options.session && Object.freeze({ ...options.session }),
    catalog: options.catalog && Object.freeze({ ...options.catalog }),
    mapTool: role('mapTool')?.method,
    mapResult: role('mapResult')?.method,
    onError: role('onError')?.method,
    handlers: Object.freeze(defined(Object.fromEntries(HANDLER_ROLES.map((name) => [name, role(name)?.method])))),
  });
}

function frozenSelection(tools: ToolSelection = {}): ToolSelection {
  const { include, exclude, prefix } = tools;
  return Object.freeze({
    include: include && Object.freeze([...include]),
    exclude: exclude && Object.freeze([...exclude]),
    prefix,
  });
}

/** The classes from the root of the inheritance down to the class itself. */
function lineage(type: AnyClass): AnyClass[] {
  const parent: unknown = Object.getPrototypeOf(type);
  return typeof parent === 'function' && parent !== Function.prototype
    ? [...lineage(parent as AnyClass), type]
    : [type];
}

function mergedOptions(line: readonly ClassMetadata[]): ToolsetOptions {
  return line.reduce<ToolsetOptions>((merged, { options }) => {
    const own = defined(options);
    return {
      ...merged,
      ...own,
      ...(own.limits && { limits: { ...merged.limits, ...defined(own.limits) } }),
      ...(own.catalog && { catalog: { ...merged.catalog, ...defined(own.catalog) } as CatalogOptions }),
      ...(own.session && { session: { ...merged.session, ...defined(own.session) } as SessionOptions }),
      ...(own.tasks && { tasks: { ...merged.tasks, ...defined(own.tasks) } }),
      ...(own.tools && { tools: { ...merged.tools, ...defined(own.tools) } }),
    };
  }, {});
}

/** What depends on the binding may not be shared before the application says among whom. */
function checkKeys({ catalog }: ToolsetOptions, source: ClientSource, name: string): void {
  const dependsOnBinding = source.kind === 'factory' || typeof source.connection === 'function';
  if (!catalog || catalog.key || !dependsOnBinding) return;
  throw new ConfigurationError(
    `Toolset ${name}: option "catalog" needs a "key", because the connection depends on the binding: a function of the ` +
      'binding that says whose catalog it is, such as the id of the user or of the tenant.',
    { toolset: name },
  );
}

/** The source that is declared nearest to the class; a class of its own has at most one. */
function clientSource(line: readonly ClassMetadata[], name: string): ClientSource {
  const nearest = line.findLast(({ options, methods }) => options?.connection !== undefined || methods.createClient);
  const connection = nearest?.options?.connection;
  const factory = nearest?.methods.createClient;
  if (connection !== undefined && factory) {
    throw new ConfigurationError(
      `Toolset ${name} has two sources of clients: option "connection" and method ${String(factory.method)} marked ` +
        '@CreateClient(). Keep one of them.',
      { toolset: name },
    );
  }
  if (factory) return { kind: 'factory', method: factory.method, connectOptions: factory.connectOptions ?? {} };
  if (connection === undefined) {
    throw new ConfigurationError(
      `Toolset ${name} has no source of clients: give @McpToolset() a "connection", or mark a method with ` +
        '@CreateClient().',
      { toolset: name },
    );
  }
  if (typeof connection === 'function') return { kind: 'connection', connection };
  return { kind: 'connection', connection: Object.freeze({ ...checkConnection(connection, name) }) };
}
