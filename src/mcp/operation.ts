import { ToolError } from '../errors';
import { untilAborted } from '../run/abort';
import { noteOutcome } from '../run/interruption';
import type { Call } from '../tool/call-context';
import { contentOf } from '../tool/content';
import type { ToolInput } from '../tool/execute';
import { ToolResult } from '../tool/tool-result';
import type { McpCallResult, McpToolDefinition } from '../toolset/callbacks';
import type { ToolsetDefinition } from '../toolset/definition';
import type { OutputSchema } from './output-schema';
import { quoted } from './quoted';
import { callback, uncarried } from './request-failure';
import { defaultResult } from './result';
import type { ToolOrigin } from './tool-origin';
import { callMethod } from './toolset-instance';
import { saysUnknownTool } from './unknown-tool';

/** An operation of a server, as one run calls it. */
export interface Operation {
  /** The server's own definition; its name is what goes over the wire. */
  readonly mcpTool: McpToolDefinition;
  readonly outputSchema: OutputSchema;
  readonly origin: ToolOrigin;
}

/**
 * Calls an operation on its server (MCP specification, Tools, calling tools); the result goes through conversion and
 * `@MapResult`.
 * @throws ToolError for an error that the server reports, ProviderError, ProtocolError, or what `@MapResult` threw
 */
export async function callOperation(operation: Operation, input: ToolInput, call: Call): Promise<ToolResult> {
  const { mcpTool, origin } = operation;
  const { session, catalog, definition } = origin;
  const { ending, callId, binding } = call;
  try {
    const result: McpCallResult = await session.request({
      method: 'tools/call',
      params: { name: mcpTool.name, arguments: input },
      signal: ending,
      call: { mcpTool, arguments: input, callId, binding },
    });
    noteOutcome(ending, 'completed');
    if (saysUnknownTool(result, mcpTool.name)) catalog.drop();
    const received = presented(operation, result, call);
    const { mapResult } = definition;
    if (mapResult === undefined) return concluded(received, result, definition);
    const told = { result, mcpTool, arguments: input, binding };
    const mapping = callback(() => callMethod(origin.instance, mapResult, received.value, told));
    const mapped = combined(received, await untilAborted(mapping, ending));
    call.kept = mapped;
    return concluded(mapped, result, definition);
  } catch (error) {
    if (saysUnknownTool(error, mcpTool.name)) catalog.drop();
    throw uncarried(error);
  }
}

/** What a result becomes by default; it is kept, so that a later step that fails loses nothing. */
function presented({ mcpTool, outputSchema, origin }: Operation, result: McpCallResult, call: Call): ToolResult {
  const { definition, limits, logger } = origin;
  const { value, artifacts, text, unshown } = defaultResult(result, limits);
  const received = new ToolResult({ value, artifacts });
  for (const note of unshown) logger.warn(`Toolset ${definition.name}, tool ${quoted(mcpTool.name)}: ${note}`);
  const mismatch = outputSchema.mismatch(result, text);
  call.kept = mismatch ? { value, artifacts, failure: mismatch } : received;
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
