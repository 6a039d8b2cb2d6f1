import { ToolError } from '../errors';
import { noteOutcome } from '../run/interruption';
import { endingOf, type ToolCallContext } from '../tool/call-context';
import { contentOf } from '../tool/content';
import { keep } from '../tool/execution';
import { bindTool, leaveInputUnchecked, Tool, type ToolSpecification } from '../tool/tool';
import type { ToolBinding } from '../tool/tool-binding';
import { ToolResult } from '../tool/tool-result';
import type { McpCallResult, McpToolClass, McpToolDefinition } from '../toolset/callbacks';
import { saysUnknownTool } from './unknown-tool';
import { callback, uncarried } from './request-failure';
import { defaultResult } from './result';
import { callMethod } from './toolset-instance';
import { enterSource, originOf, sourceOf, type ToolOrigin, type ToolSource } from './tool-origin';
import { quoted } from './quoted';

/** The base of generated tools: a call goes to the server, its result through conversion and `@MapResult`. */
export class McpTool extends Tool {
  /** The server's own definition; its name is what goes over the wire. */
  static readonly mcpTool: McpToolDefinition;

  readonly #source: ToolOrigin & ToolSource;

  /** @throws ConfigurationError for the binding of a run in which the toolset was not discovered */
  constructor(binding: ToolBinding) {
    super();
    this.#source = { ...originOf(this.constructor as McpToolClass, binding), ...sourceOf(this.constructor) };
    bindTool(this, binding);
    leaveInputUnchecked(this);
    this.#source.session.hold(this);
  }

  /**
   * Calls the operation on the server (MCP specification, Tools, calling tools).
   * @throws ToolError for an error that the server reports, ProviderError, ProtocolError, or what `@MapResult` threw
   */
  override async call(input: Record<string, unknown>, context: ToolCallContext): Promise<unknown> {
    const { mcpTool } = this.constructor as typeof McpTool;
    const ending = endingOf(context);
    try {
      const result: McpCallResult = await this.#source.session.request({
        method: 'tools/call',
        params: { name: mcpTool.name, arguments: input },
        signal: ending,
        call: { mcpTool, arguments: input, callId: context.callId, binding: context.binding },
      });
      noteOutcome(ending, 'completed');
      if (saysUnknownTool(result, mcpTool.name)) this.#source.catalog.drop();
      return await presented(this.#source, { result, mcpTool, arguments: input, binding: context.binding }, context);
    } catch (error) {
      if (saysUnknownTool(error, mcpTool.name)) this.#source.catalog.drop();
      throw uncarried(error);
    }
  }

  /** Gives the tool up; without a run, the session closes with the last of those that hold it: tools, or their registry. */
  override async close(): Promise<void> {
    await this.#source.session.release(this);
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

interface Call {
  readonly result: McpCallResult;
  readonly mcpTool: McpToolDefinition;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly binding: ToolBinding;
}

/** What a result becomes; each step is kept, so that a later one that fails loses nothing. */
async function presented(source: ToolOrigin & ToolSource, call: Call, context: ToolCallContext): Promise<ToolResult> {
  const { definition, instance, limits, logger, outputSchema } = source;
  const { name, mapResult } = definition;
  const { value, artifacts, text, unshown } = defaultResult(call.result, limits);
  const received = new ToolResult({ value, artifacts });
  for (const note of unshown) logger.warn(`Toolset ${name}, tool ${quoted(call.mcpTool.name)}: ${note}`);
  keep(context, received);
  const mismatch = outputSchema.mismatch(call.result, text);
  if (mismatch) {
    keep(context, { value, artifacts, failure: mismatch });
    throw mismatch.error;
  }
  const map = mapResult !== undefined && ((): unknown => callMethod(instance, mapResult, value, call));
  const mapped = map ? combined(received, await callback(map)) : received;
  keep(context, mapped);
  if (call.result.isError === true) throw reportedError(mapped, name);
  return mapped;
}

/** What `@MapResult` returned, beside the artifacts that came. */
function combined({ artifacts }: ToolResult, returned: unknown): ToolResult {
  const mapped = ToolResult.of(returned);
  return new ToolResult({ value: mapped.value, artifacts: [...artifacts, ...mapped.artifacts] });
}

function reportedError({ value }: ToolResult, toolset: string): ToolError {
  const content = contentOf(value);
  const message = content.trim() === '' ? 'The tool reported an error without saying which.' : content;
  return new ToolError(message, { toolset });
}
