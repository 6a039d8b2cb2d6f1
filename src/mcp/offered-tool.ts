import type { ToolSpecification } from '../tool/tool';
import type { McpToolClass, McpToolDefinition } from '../toolset/callbacks';
import { generateTool, type ToolOrigin } from './mcp-tool';
import { OutputSchema } from './output-schema';

/**
 * One tool of a catalog in one run. Of a large catalog a run calls a few tools, so the class is made when somebody asks for
 * it, and until then there is nothing but the definition.
 */
export class OfferedTool {
  private made: McpToolClass | undefined;

  constructor(
    /** The name that the model sees, unless the application gives the class another one. */
    readonly name: string,
    readonly mcpTool: McpToolDefinition,
    readonly origin: ToolOrigin,
  ) {}

  /** Whether the class exists, which whoever has it may have changed. */
  get hasClass(): boolean {
    return this.made !== undefined;
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

  /** What a model is told about the tool. */
  get specification(): ToolSpecification {
    const { name, mcpTool, origin } = this;
    const description = describedAs(mcpTool, origin.definition.name);
    return Object.freeze({ name, description, inputSchema: mcpTool.inputSchema ?? { type: 'object' } });
  }

  private generate(): McpToolClass {
    const { mcpTool, origin, specification } = this;
    const outputSchema = new OutputSchema(mcpTool, origin.definition.name, origin.logger);
    return generateTool({ specification, mcpTool }, { ...origin, outputSchema });
  }
}

function describedAs({ name, description }: McpToolDefinition, toolset: string): string {
  const text = typeof description === 'string' ? description.toWellFormed() : '';
  return text.trim() === '' ? `The tool ${name.toWellFormed()} of ${toolset}.` : text;
}
