import type { McpToolsetError } from '../errors';
import type { JsonSchema } from '../tool/json-schema';
import type { ConcreteTool, ToolClass } from '../tool/tool';
import type { ToolBinding } from '../tool/tool-binding';
import type { Awaitable, UnconnectedClient } from './client-source';

/** A tool as the server defines it (MCP specification, Tools, data types), unchanged and with whatever else it sent. */
export interface McpToolDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description?: string | null;
  readonly inputSchema?: JsonSchema | null;
  readonly outputSchema?: JsonSchema | null;
  /** How it may be called, as far as tasks go (MCP specification, Tasks, tool-level negotiation). */
  readonly execution?: { readonly taskSupport?: string };
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** The result of `tools/call` as the server sent it (MCP specification, Tools, tool result). */
export interface McpCallResult {
  readonly content?: readonly unknown[] | null;
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly [field: string]: unknown;
}

/** The class of a generated tool; its statics may be changed by `@MapTool`. */
export interface McpToolClass extends Pick<ToolClass, keyof ToolClass> {
  new (binding: ToolBinding): ConcreteTool;
  /** The server's own definition; its name is what goes over the wire. */
  readonly mcpTool: McpToolDefinition;
}

/** What `@MapTool` is told. */
export interface MapToolContext {
  readonly mcpTool: McpToolDefinition;
  readonly binding: ToolBinding;
}

/** What `@MapResult` is told. */
export interface MapResultContext {
  /** The result as the server sent it. */
  readonly result: McpCallResult;
  readonly mcpTool: McpToolDefinition;
  /** The arguments that were sent. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly binding: ToolBinding;
}

/** What `@OnError` is told. */
export interface OnErrorContext {
  readonly binding: ToolBinding;
}

/** Signature of a method marked `@CreateClient`. */
export type CreateClientMethod = (binding: ToolBinding) => Awaitable<UnconnectedClient>;

/** Signature of a method marked `@MapTool`: returns the class or a subclass, or null or undefined to omit it. */
export type MapToolMethod = (tool: McpToolClass, context: MapToolContext) => Awaitable<McpToolClass | null | undefined>;

/** Signature of a method marked `@MapResult`: returns any value, or a `ToolResult`. */
export type MapResultMethod = (value: unknown, context: MapResultContext) => unknown;

/** Signature of a method marked `@OnError`. */
export type OnErrorMethod = (error: McpToolsetError, context: OnErrorContext) => unknown;
