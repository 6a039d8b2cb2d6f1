import type { Logger } from '../settings';
import type { ToolSpecification } from '../tool/tool';
import type { McpToolClass, McpToolDefinition } from '../toolset/callbacks';
import type { ToolsetDefinition } from '../toolset/definition';
import { generateTool } from './mcp-tool';
import { OutputSchema } from './output-schema';
import type { ToolOrigin } from './tool-origin';

/** What the tools of one catalog have in common. */
export interface CatalogPlace {
  readonly definition: ToolsetDefinition;
  readonly logger: Logger;
  /** That of the one run that the tools are for; missing where runs share them. */
  readonly origin?: ToolOrigin;
}

/**
 * One tool of a catalog. Of a large catalog a run calls a few tools, so the class is made when somebody asks for it, and
 * until then there is nothing but the definition.
 */
export class OfferedTool {
  private made: McpToolClass | undefined;
  private told: ToolSpecification | undefined;

  constructor(
    /** The name that the model sees, unless the application gives the class another one. */
    readonly name: string,
    readonly mcpTool: McpToolDefinition,
    private readonly place: CatalogPlace,
  ) {}

  /** Whether somebody has the class and may have changed it, which the classes that runs share do not allow. */
  get mayBeChanged(): boolean {
    return this.made !== undefined && this.place.origin !== undefined;
  }

  /** The class; always the same one. */
  get toolClass(): McpToolClass {
    this.made ??= this.generate();
    return this.made;
  }

  /** Puts the application's class in the place of the generated one. */
  replaceClass(toolClass: McpToolClass): void {
    this.made = toolClass;
  }

  /** Name of the toolset. */
  get toolset(): string {
    return this.place.definition.name;
  }

  /** What a model is told about the tool. */
  get specification(): ToolSpecification {
    this.told ??= this.describe();
    return this.told;
  }

  private describe(): ToolSpecification {
    const { name, mcpTool, toolset } = this;
    const description = describedAs(mcpTool, toolset);
    return Object.freeze({ name, description, inputSchema: mcpTool.inputSchema ?? { type: 'object' } });
  }

  private generate(): McpToolClass {
    const { definition, logger, origin } = this.place;
    const { mcpTool, specification } = this;
    const outputSchema = new OutputSchema(mcpTool, definition.name, logger);
    const source = { definition, outputSchema, ...(origin && { origin }) };
    const generated = generateTool({ specification, mcpTool }, source);
    return origin ? generated : Object.freeze(generated);
  }
}

function describedAs({ name, description }: McpToolDefinition, toolset: string): string {
  const text = typeof description === 'string' ? description.toWellFormed() : '';
  return text.trim() === '' ? `The tool ${name.toWellFormed()} of ${toolset}.` : text;
}
