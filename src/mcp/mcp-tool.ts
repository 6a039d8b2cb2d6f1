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
import type { OutputSchema } from './output-schema';
import { callback, uncarried } from './request-failure';
import { defaultResult } from './result';
import { callMethod } from './toolset-instance';
import { enterSource, originOf, sourceOf, type ToolOrigin, type ToolSource } from './tool-origin';
import { quoted } from './quoted';

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
    const { session, catalog, definition, instance } = this.#origin;
    const ending = endingOf(context);
    try {
      const result: McpCallResult = await session.request({
        method: 'tools/call',
        params: { name: mcpTool.name, arguments: input },
        signal: ending,
        call: { mcpTool, arguments: input, callId: context.callId, binding: context.binding },
      });
      noteOutcome(ending, 'completed');
      if (saysUnknownTool(result, mcpTool.name)) catalog.drop();
      const answer = { result, mcpTool, outputSchema: this.#outputSchema };
      const received = presented(this.#origin, answer, context);
      const { mapResult } = definition;
      if (mapResult === undefined) return concluded(received, result, definition);
      const told = { result, mcpTool, arguments: input, binding: context.binding };
      const mapped = combined(received, await callback(() => callMethod(instance, mapResult, received.value, told)));
      keep(context, mapped);
      return concluded(mapped, result, definition);
    } catch (error) {
      if (saysUnknownTool(error, mcpTool.name)) catalog.drop();
      throw uncarried(error);
    }
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

interface Answer {
  readonly result: McpCallResult;
  readonly mcpTool: McpToolDefinition;
  readonly outputSchema: OutputSchema;
}

/** What a result becomes by default; it is kept, so that a later step that fails loses nothing. */
function presented(
  origin: ToolOrigin,
  { result, mcpTool, outputSchema }: Answer,
  context: ToolCallContext,
): ToolResult {
  const { definition, limits, logger } = origin;
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
