import { ToolError } from '../errors';
import { noteOutcome } from '../run/interruption';
import { endingOf, type ToolCallContext } from '../tool/call-context';
import { contentOf } from '../tool/content';
import { keep } from '../tool/execution';
import { bindTool, leaveInputUnchecked, Tool, type ToolSpecification } from '../tool/tool';
import type { ToolBinding } from '../tool/tool-binding';
import { ToolResult } from '../tool/tool-result';
import type { McpCallResult, McpToolClass, McpToolDefinition } from '../toolset/callbacks';
import type { ToolsetDefinition } from '../toolset/definition';
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
      const received = presented(this.#source, { result, mcpTool }, context);
      const { definition, instance } = this.#source;
      const { mapResult } = definition;
      if (mapResult === undefined) return concluded(received, result, definition);
      const told = { result, mcpTool, arguments: input, binding: context.binding };
      const mapped = combined(received, await callback(() => callMethod(instance, mapResult, received.value, told)));
      keep(context, mapped);
      return concluded(mapped, result, definition);
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

interface Answer {
  readonly result: McpCallResult;
  readonly mcpTool: McpToolDefinition;
}

/** What a result becomes by default; it is kept, so that a later step that fails loses nothing. */
function presented(source: ToolOrigin & ToolSource, { result, mcpTool }: Answer, context: ToolCallContext): ToolResult {
  const { definition, limits, logger, outputSchema } = source;
  const { value, artifacts, text, unshown } = defaultResult(result, limits);
  const received = new ToolResult({ value, artifacts });
  for (const note of unshown) logger.warn(`Toolset ${definition.name}, tool ${quoted(mcpTool.name)}: ${note}`);
  const mismatch = outputSchema.mismatch(result, text);
  keep(context, mismatch ? { value, artifacts, failure: mismatch } : received);
  if (mismatch) throw mismatch.error;
  return received;
}

/** What `@MapResult` returned, beside the artifacts that came. */
function combined({ artifacts }: ToolResult, returned: unknown): ToolResult {
  const mapped = ToolResult.of(returned);
  return new ToolResult({ value: mapped.value, artifacts: [...artifacts, ...mapped.artifacts] });
}

/**
 * The result of a call, once it has been mapped.
 * @throws ToolError for an error that the server reports
 */
function concluded(mapped: ToolResult, { isError }: McpCallResult, { name }: ToolsetDefinition): ToolResult {
  if (isError !== true) return mapped;
  const content = contentOf(mapped.value);
  const message = content.trim() === '' ? 'The tool reported an error without saying which.' : content;
  throw new ToolError(message, { toolset: name });
}
