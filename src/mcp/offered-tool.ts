import type { Logger } from '../settings';
import { PlainSpecification } from '../tool/plain-specification';
import type { ToolSpecification } from '../tool/tool';
import type { ToolBinding } from '../tool/tool-binding';
import type { McpToolClass, McpToolDefinition } from '../toolset/callbacks';
import type { ToolsetDefinition } from '../toolset/definition';
import { generateTool } from './mcp-tool';
import type { Operation } from './operation';
import { OutputSchema } from './output-schema';
import { originIn, type SourcePlace } from './tool-origin';

/** What the tools of one catalog have in common. */
export interface CatalogPlace extends SourcePlace {
  readonly logger: Logger;
}

/**
 * One tool of a catalog. Of a large catalog a run calls a few tools, so the class is made when somebody asks for it, and
 * until then there is nothing but the definition.
 */
export class OfferedTool {
  private made: McpToolClass | undefined;
  private told: ToolSpecification | undefined;
  private output: OutputSchema | undefined;

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

  /**
   * The operation, for whoever calls it without a class.
   * @throws ConfigurationError where the toolset was not discovered in the run of the binding
   */
  operationFor(binding: ToolBinding): Operation {
    const { mcpTool, outputSchema } = this;
    return { mcpTool, outputSchema, origin: originIn(this.place, mcpTool, binding) };
  }

  /** Puts the application's class in the place of the generated one. */
  replaceClass(toolClass: McpToolClass): void {
    this.made = toolClass;
  }

  /** The toolset that offers it. */
  get definition(): ToolsetDefinition {
    return this.place.definition;
  }

  /** Name of the toolset. */
  get toolset(): string {
    return this.definition.name;
  }

  /** What a model is told about the tool. */
  get specification(): ToolSpecification {
    this.told ??= this.describe();
    return this.told;
  }

  private get outputSchema(): OutputSchema {
    const { definition, logger } = this.place;
    this.output ??= new OutputSchema(this.mcpTool, definition.name, logger);
    return this.output;
  }

  private describe(): ToolSpecification {
    const { name, mcpTool, toolset } = this;
    const description = describedAs(mcpTool, toolset);
    return Object.freeze(new PlainSpecification(name, description, mcpTool.inputSchema ?? { type: 'object' }));
  }

  private generate(): McpToolClass {
    const { definition, origin } = this.place;
    const { mcpTool, specification, outputSchema } = this;
    const source = { definition, outputSchema, ...(origin && { origin }) };
    const generated = generateTool({ specification, mcpTool }, source);
    return origin ? generated : Object.freeze(generated);
  }
}

function describedAs({ name, description }: McpToolDefinition, toolset: string): string {
  const text = typeof description === 'string' ? description.toWellFormed() : '';
  return text.trim() === '' ? `The tool ${name.toWellFormed()} of ${toolset}.` : text;
}
