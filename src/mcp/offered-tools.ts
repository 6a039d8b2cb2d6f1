import { ConfigurationError } from '../errors';
import { untilAborted } from '../run/abort';
import { Attached } from '../run/attached';
import { endOf } from '../run/run';
import { isToolName, toolNames } from '../tool/names';
import type { ToolBinding } from '../tool/tool-binding';
import type { McpToolClass } from '../toolset/callbacks';
import type { ToolSelection } from '../toolset/options';
import type { Catalog } from './catalog';
import type { RequestParams } from './exchange';
import type { RawResult } from './reply';
import { OfferedTool } from './offered-tool';
import { callback } from './request-failure';
import type { Session } from './session';
import { enterOrigin, type ToolOrigin } from './tool-origin';
import { callMethod } from './toolset-instance';
import { quoted } from './quoted';

/** What a toolset offers in one run. */
export interface Offer {
  readonly tools: readonly OfferedTool[];
  /** The session by which they are called. */
  readonly session?: Session;
}

/**
 * The tools of a run: from its catalog, selected, mapped and with checked names. Those of a shared catalog are the same
 * for all runs that share it, unless `@MapTool` may change them.
 * @throws what reading and mapping throw, and ConfigurationError for a name that the application chose badly
 */
export async function offeredTools(origin: ToolOrigin, binding: ToolBinding): Promise<readonly OfferedTool[]> {
  const { definition, session, catalog: source } = origin;
  const readPage = (params: RequestParams): Promise<RawResult> =>
    session.request({ method: 'tools/list', params, signal: endOf(binding.run) });
  const catalog = await source.read(readPage);
  if (source.isShared && binding.run && definition.mapTool === undefined) {
    enterOrigin(binding.run, origin);
    return sharedTools(catalog, origin);
  }
  const offered = selected(catalog, origin, origin);
  return definition.mapTool === undefined ? offered : mapped(offered, origin, binding);
}

const shared = new Attached<Catalog, readonly OfferedTool[]>();

/** The tools of a shared catalog, whose classes no run may change for the others. */
function sharedTools(catalog: Catalog, origin: ToolOrigin): readonly OfferedTool[] {
  return shared.of(catalog, () => selected(catalog, origin));
}

/** One tool per selected definition; `origin` is that of the one run that they are for, if they are. */
function selected(catalog: Catalog, { definition, logger }: ToolOrigin, origin?: ToolOrigin): readonly OfferedTool[] {
  const place = { definition, logger, ...(origin && { origin }) };
  const wireNames = catalog.map(({ name }) => name);
  const names = toolNames(wireNames, definition.tools.prefix);
  warnOfUnknown(definition.tools, wireNames, (text) => logger.warn(`Toolset ${definition.name}: ${text}`));
  return catalog
    .map((mcpTool, index) => new OfferedTool(names[index] ?? '', mcpTool, place))
    .filter(({ mcpTool }) => isSelected(mcpTool.name, definition.tools));
}

async function mapped(
  offered: readonly OfferedTool[],
  origin: ToolOrigin,
  binding: ToolBinding,
): Promise<readonly OfferedTool[]> {
  const kept: OfferedTool[] = [];
  for (const tool of offered) {
    const mappedTo = await mappedClass(tool.toolClass, origin, binding);
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
  wireNames: readonly string[],
  warn: (text: string) => void,
): void {
  for (const [option, selected] of Object.entries({ include, exclude })) {
    const known = new Set(selected && wireNames);
    for (const wireName of selected ?? []) {
      if (!known.has(wireName))
        warn(`option "tools.${option}" names ${quoted(wireName)}, which the server does not list.`);
    }
  }
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
  const returned: unknown = await untilAborted(mapping, endOf(binding.run));
  if (returned === null || returned === undefined) return undefined;
  const where = `Toolset ${name}, tool ${quoted(mcpTool.name)}, method ${String(mapTool)}`;
  const fault = mappingFault(returned, generated);
  if (fault !== undefined) throw new ConfigurationError(`${where}: ${fault}`, { toolset: name });
  return returned as McpToolClass;
}

function mappingFault(returned: unknown, generated: McpToolClass): string | undefined {
  const isOurs = returned === generated || (typeof returned === 'function' && returned.prototype instanceof generated);
  if (!isOurs) {
    const got = returned instanceof generated ? ' It returned an instance of the class.' : '';
    return `@MapTool() must return the class that it is given, a subclass of it, or null to omit the tool.${got}`;
  }
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
    const { toolset, toolClass } = tool;
    const { toolName } = toolClass;
    const other = taken.get(toolName);
    if (other !== undefined) {
      const both = `${quoted(other.mcpTool.name)} and ${quoted(tool.mcpTool.name)}`;
      throw new ConfigurationError(
        `Toolset ${toolset}: @MapTool() gave the tools ${both} the same name "${toolName}".`,
        { toolset },
      );
    }
    taken.set(toolName, tool);
  }
}
