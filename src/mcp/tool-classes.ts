import { ConfigurationError } from '../errors';
import { untilAborted } from '../run/abort';
import { isToolName, toolNames } from '../tool/names';
import type { ToolBinding } from '../tool/tool-binding';
import type { McpToolClass, McpToolDefinition } from '../toolset/callbacks';
import type { ToolSelection } from '../toolset/options';
import type { Catalog } from './catalog';
import type { RawResult } from './reply';
import { generateTool } from './mcp-tool';
import { OutputSchema } from './output-schema';
import { callback } from './request-failure';
import { enterOrigin, type ToolOrigin } from './tool-origin';
import { callMethod } from './toolset-instance';
import { quoted } from './quoted';

/**
 * The tool classes of a run: from its catalog, selected, mapped and with checked names. Those of a shared catalog are the
 * same for all runs that share it, unless `@MapTool` may change them.
 * @throws what reading and mapping throw, and ConfigurationError for a name that the application chose badly
 */
export async function toolClasses(origin: ToolOrigin, binding: ToolBinding): Promise<readonly McpToolClass[]> {
  const { definition, session, catalog: source } = origin;
  const readPage = (params: object): Promise<RawResult> =>
    session.request({ method: 'tools/list', params, signal: binding.run?.signal });
  const catalog = await source.read(readPage);
  if (source.isShared && binding.run && definition.mapTool === undefined) {
    enterOrigin(binding.run, origin);
    return sharedClasses(catalog, origin);
  }
  const classes: McpToolClass[] = [];
  for (const generated of generatedClasses(catalog, origin, origin)) {
    const mapped = await mappedClass(generated, origin, binding);
    if (mapped) classes.push(mapped);
  }
  checkNames(classes, definition.name);
  return classes;
}

const shared = new WeakMap<Catalog, readonly McpToolClass[]>();

/** The classes of a shared catalog, which no run may change for the others. */
function sharedClasses(catalog: Catalog, origin: ToolOrigin): readonly McpToolClass[] {
  const classes = shared.get(catalog) ?? generatedClasses(catalog, origin).map((generated) => Object.freeze(generated));
  shared.set(catalog, classes);
  return classes;
}

/** One class per selected definition; `origin` is that of the one run that they are for, if they are. */
function generatedClasses(
  catalog: Catalog,
  { definition, logger }: ToolOrigin,
  origin?: ToolOrigin,
): readonly McpToolClass[] {
  const names = toolNames(
    catalog.map(({ name }) => name),
    definition.tools.prefix,
  );
  warnOfUnknown(definition.tools, new Set(catalog.map(({ name }) => name)), (text) =>
    logger.warn(`Toolset ${definition.name}: ${text}`),
  );
  return catalog.flatMap((mcpTool, index) => {
    if (!isSelected(mcpTool.name, definition.tools)) return [];
    const description = describedAs(mcpTool, definition.name);
    const outputSchema = new OutputSchema(mcpTool, definition.name, logger);
    const source = { definition, outputSchema, ...(origin && { origin }) };
    return [generateTool({ name: names[index] ?? '', description, mcpTool }, source)];
  });
}

function isSelected(wireName: string, { include, exclude }: ToolSelection): boolean {
  return (include?.includes(wireName) ?? true) && !exclude?.includes(wireName);
}

function warnOfUnknown(
  { include, exclude }: ToolSelection,
  known: ReadonlySet<string>,
  warn: (text: string) => void,
): void {
  for (const [option, wireNames] of Object.entries({ include, exclude })) {
    for (const wireName of wireNames ?? []) {
      if (!known.has(wireName))
        warn(`option "tools.${option}" names ${quoted(wireName)}, which the server does not list.`);
    }
  }
}

function describedAs({ name, description }: McpToolDefinition, toolset: string): string {
  const text = typeof description === 'string' ? description.toWellFormed() : '';
  return text.trim() === '' ? `The tool ${name.toWellFormed()} of ${toolset}.` : text;
}

async function mappedClass(
  generated: McpToolClass,
  { definition, instance }: ToolOrigin,
  binding: ToolBinding,
): Promise<McpToolClass | undefined> {
  const { mapTool, name } = definition;
  if (mapTool === undefined) return generated;
  const { mcpTool } = generated;
  const mapping = callback(() => callMethod(instance, mapTool, generated, { mcpTool, binding }));
  const returned: unknown = await untilAborted(mapping, binding.run?.signal);
  if (returned === null || returned === undefined) return undefined;
  const where = `Toolset ${name}, tool ${quoted(mcpTool.name)}, method ${String(mapTool)}`;
  const fault = mappingFault(returned, generated);
  if (fault !== undefined) throw new ConfigurationError(`${where}: ${fault}`, { toolset: name });
  return returned as McpToolClass;
}

function mappingFault(returned: unknown, generated: McpToolClass): string | undefined {
  const isOurs = returned === generated || (typeof returned === 'function' && returned.prototype instanceof generated);
  if (!isOurs) return '@MapTool() must return the class that it is given, a subclass of it, or null to omit the tool.';
  const { toolName, description, inputSchema } = returned as McpToolClass;
  if (!isToolName(toolName)) {
    return `the name ${JSON.stringify(toolName)} is not usable; expected 1 to 64 of the characters a-z, A-Z, 0-9, _ and -.`;
  }
  if (typeof description !== 'string' || description.trim() === '') return 'the description is empty.';
  const isObject = typeof inputSchema === 'object' && inputSchema !== null && !Array.isArray(inputSchema);
  return isObject ? undefined : 'the inputSchema is no object.';
}

function checkNames(classes: readonly McpToolClass[], toolset: string): void {
  const taken = new Map<string, string>();
  for (const { toolName, mcpTool } of classes) {
    const other = taken.get(toolName);
    if (other !== undefined) {
      throw new ConfigurationError(
        `Toolset ${toolset}: @MapTool() gave the tools ${quoted(other)} and ${quoted(mcpTool.name)} the same name "${toolName}".`,
        { toolset },
      );
    }
    taken.set(toolName, mcpTool.name);
  }
}
