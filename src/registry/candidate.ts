import type { InjectionToken } from 'tsyringe';
import { ConfigurationError, McpToolsetError, messageOf } from '../errors';
import type { OfferedTool } from '../mcp/offered-tool';
import type { Session } from '../mcp/session';
import { toolsetOf } from '../mcp/tool-origin';
import type { McpToolClass } from '../toolset/callbacks';
import { injectionHint } from '../run/injection-hint';
import { checkDeclaration } from '../tool/declaration';
import { bindTool, Tool, type ToolClass } from '../tool/tool';
import type { ToolBinding } from '../tool/tool-binding';
import { quoted } from '../mcp/quoted';

/** A tool that is to be registered, before anything is made of it. */
export interface Candidate {
  readonly name: string;
  /** Where it comes from, as errors name it. */
  readonly origin: string;
  /** What was registered for it: a toolset's definition, or a tool's class or instance. */
  readonly source: object;
  /** What a toolset offers, as long as its class is nobody's to change. */
  readonly offered?: OfferedTool;
  /** The session by which what is offered is called. */
  readonly session?: Session | undefined;
  readonly type: ToolClass;
  /** The instance that the registry was handed, if it was. */
  readonly instance?: Tool;
}

/** A tool that a toolset offers: of a large catalog a run needs the names of all, and a few of the tools. */
export class OfferedCandidate implements Candidate {
  constructor(
    readonly offered: OfferedTool,
    readonly session: Session | undefined,
  ) {}

  get name(): string {
    return this.offered.name;
  }

  get origin(): string {
    return originOf(this.offered.mcpTool.name, this.offered.toolset);
  }

  get source(): object {
    return this.offered.definition;
  }

  get type(): McpToolClass {
    return this.offered.toolClass;
  }
}

/**
 * A tool class or instance, checked.
 * @throws ConfigurationError when name, description or input schema are not usable
 */
export function candidateOf(source: ToolClass | Tool): Candidate {
  const instance = source instanceof Tool ? source : undefined;
  const type = instance ? (instance.constructor as unknown as ToolClass) : (source as ToolClass);
  const toolset = toolsetOf(type);
  if (toolset !== undefined) {
    return {
      name: type.toolName,
      origin: originOf((type as McpToolClass).mcpTool.name, toolset.name),
      source: toolset,
      type,
      ...(instance && { instance }),
    };
  }
  const { name: className, toolName, description, inputSchema } = type;
  const where = `Tool class ${className || '(anonymous)'}`;
  checkDeclaration({ name: toolName, description, inputSchema }, { where, nameLabel: 'toolName' });
  return {
    name: type.toolName,
    origin: `${instance ? 'an instance of ' : ''}${type.name}`,
    source,
    type,
    ...(instance && { instance }),
  };
}

function originOf(wireName: string, toolset: string): string {
  return `tool ${quoted(wireName)} of toolset ${toolset}`;
}

/**
 * The instance of a candidate, bound: a local class is made by the container, a generated one for the binding.
 * @throws ConfigurationError when the container cannot make it
 */
export function instantiate({ instance, type }: Candidate, binding: ToolBinding): Tool {
  if (instance) return instance;
  if (toolsetOf(type)) return new (type as McpToolClass)(binding);
  try {
    const tool = binding.container.resolve(type as unknown as InjectionToken<Tool>);
    bindTool(tool, binding);
    return tool;
  } catch (cause) {
    if (McpToolsetError.is(cause)) throw cause;
    const message = messageOf(cause);
    throw new ConfigurationError(
      `Tool class ${type.name}: the container could not make an instance: ${message}${injectionHint(message, type, '@injectable()')}`,
      { cause },
    );
  }
}
