import { callOf, type ToolCallContext } from '../tool/call-context';
import { bindTool, leaveInputUnchecked, Tool, type ToolSpecification } from '../tool/tool';
import type { ToolBinding } from '../tool/tool-binding';
import type { McpToolClass, McpToolDefinition } from '../toolset/callbacks';
import { callOperation } from './operation';
import type { OutputSchema } from './output-schema';
import { enterSource, originOf, sourceOf, type ToolOrigin, type ToolSource } from './tool-origin';

/** The base of generated tools: a call goes to the server, its result through conversion and `@MapResult`. */
export class McpTool extends Tool {
  /** The server's own definition; its name is what goes over the wire. */
  static readonly mcpTool: McpToolDefinition;

  readonly #origin: ToolOrigin;
  readonly #outputSchema: OutputSchema;

  /** @throws ConfigurationError for the binding of a run in which the toolset was not discovered */
  constructor(binding: ToolBinding) {
    super();
    this.#origin = originOf(this.constructor as McpToolClass, binding);
    this.#outputSchema = sourceOf(this.constructor).outputSchema;
    bindTool(this, binding);
    leaveInputUnchecked(this);
    this.#origin.session.hold(this);
  }

  /**
   * Calls the operation on the server (MCP specification, Tools, calling tools).
   * @throws ToolError for an error that the server reports, ProviderError, ProtocolError, or what `@MapResult` threw
   */
  override async call(input: Record<string, unknown>, context: ToolCallContext): Promise<unknown> {
    const { mcpTool } = this.constructor as typeof McpTool;
    return callOperation({ mcpTool, outputSchema: this.#outputSchema, origin: this.#origin }, input, callOf(context));
  }

  /** Gives the tool up; without a run, the session closes with the last of those that hold it: tools, or their registry. */
  override async close(): Promise<void> {
    await this.#origin.session.release(this);
  }
}

/** The class of one definition of a catalog, which knows its source. */
export function generateTool(
  { specification, mcpTool }: { readonly specification: ToolSpecification; readonly mcpTool: McpToolDefinition },
  source: ToolSource,
): McpToolClass {
  const generated = class extends McpTool {
    static override toolName = specification.name;
    static override description = specification.description;
    static override inputSchema = specification.inputSchema;
    static override exclusive = false;
    static override readonly mcpTool = mcpTool;
  };
  Object.defineProperty(generated, 'name', { value: `McpTool(${mcpTool.name})` });
  enterSource(generated, source);
  return generated;
}
