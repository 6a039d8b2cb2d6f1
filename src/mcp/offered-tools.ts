import { ConfigurationError } from '../errors';
import { untilAborted } from '../run/abort';
import { isToolName, toolNames } from '../tool/names';
import type { ToolBinding } from '../tool/tool-binding';
import type { McpToolClass } from '../toolset/callbacks';
import type { ToolSelection } from '../toolset/options';
import { readCatalog } from './catalog';
import type { RawResult } from './reply';
import type { ToolOrigin } from './mcp-tool';
import { OfferedTool } from './offered-tool';
import { callback } from './request-failure';
import { callMethod } from './toolset-instance';
import { quoted } from './quoted';

/**
 * Reads the catalog of a session and tells what tools it offers: selected, mapped and with checked names.
 * @throws what reading and mapping throw, and ConfigurationError for a name that the application chose badly
 */
export async function offeredTools(origin: ToolOrigin, binding: ToolBinding): Promise<OfferedTool[]> {
  const { definition, session, limits, logger } = origin;
  const readPage = (params: object): Promise<RawResult> =>
    session.request({ method: 'tools/list', params, signal: binding.run?.signal });
  const catalog = await readCatalog(readPage, { toolset: definition.name, limits, logger });
  const wireNames = catalog.map(({ name }) => name);
  const names = toolNames(wireNames, definition.tools.prefix);
  warnOfUnknown(definition.tools, new Set(wireNames), (text) => logger.warn(`Toolset ${definition.name}: ${text}`));
  const offered = catalog
    .map((mcpTool, index) => new OfferedTool(names[index] ?? '', mcpTool, origin))
    .filter(({ mcpTool }) => isSelected(mcpTool.name, definition.tools));
  return definition.mapTool === undefined ? offered : mapped(offered, definition.mapTool, binding);
}

async function mapped(
  offered: readonly OfferedTool[],
  mapTool: string | symbol,
  binding: ToolBinding,
): Promise<OfferedTool[]> {
  const kept: OfferedTool[] = [];
  for (const tool of offered) {
    const mappedTo = await mappedClass(tool, mapTool, binding);
    if (!mappedTo) continue;
    tool.replaceClass(mappedTo);
    kept.push(tool);
  }
  checkNames(kept);
  return kept;
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

async function mappedClass(
  { toolClass, mcpTool, origin }: OfferedTool,
  mapTool: string | symbol,
  binding: ToolBinding,
): Promise<McpToolClass | undefined> {
  const { definition, instance } = origin;
  const mapping = callback(() => callMethod(instance, mapTool, toolClass, { mcpTool, binding }));
  const returned: unknown = await untilAborted(mapping, binding.run?.signal);
  if (returned === null || returned === undefined) return undefined;
  const where = `Toolset ${definition.name}, tool ${quoted(mcpTool.name)}, method ${String(mapTool)}`;
  const fault = mappingFault(returned, toolClass);
  if (fault !== undefined) throw new ConfigurationError(`${where}: ${fault}`, { toolset: definition.name });
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

function checkNames(offered: readonly OfferedTool[]): void {
  const taken = new Map<string, OfferedTool>();
  for (const tool of offered) {
    const { toolName } = tool.toolClass;
    const other = taken.get(toolName);
    if (other !== undefined) {
      const { name: toolset } = tool.origin.definition;
      const both = `${quoted(other.mcpTool.name)} and ${quoted(tool.mcpTool.name)}`;
      throw new ConfigurationError(
        `Toolset ${toolset}: @MapTool() gave the tools ${both} the same name "${toolName}".`,
        { toolset },
      );
    }
    taken.set(toolName, tool);
  }
}
