/** What every snippet starts with: the imports, and two values to work with. */
export const PRELUDE = `
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import * as lib from 'mcp-toolset';
import {
  Artifact, CleanupError, ClientFactory, CreateClient, MapResult, MapTool, McpTool, McpToolset, McpToolsetError, OnError,
  Run, RunFactory, Tool, ToolBinding, ToolError, ToolRegistry, ToolResult, ToolsetDiscovery, configureMcpToolset,
} from 'mcp-toolset';
import type {
  AnyArtifact, MapResultContext, MapToolContext, McpToolClass, OnErrorContext, ToolCallContext, ToolExecution,
  ToolProvider,
} from 'mcp-toolset';
import { container } from 'tsyringe';
export const used = [
  Client, StreamableHTTPClientTransport, StdioClientTransport, SSEClientTransport, InMemoryTransport, lib, Artifact,
  CleanupError, ClientFactory, CreateClient, MapResult, MapTool, McpTool, McpToolset, McpToolsetError, OnError, Run,
  RunFactory, Tool, ToolBinding, ToolError, ToolRegistry, ToolResult, ToolsetDiscovery, configureMcpToolset, container,
];
export type Used = [
  Transport, AnyArtifact, MapResultContext, MapToolContext, McpToolClass, OnErrorContext, ToolCallContext, ToolExecution, ToolProvider,
];
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
export const same = <A, B>(..._: Equal<A, B> extends true ? [] : ['different types']): void => undefined;
declare const binding: ToolBinding;
declare const run: Run;
void binding; void run;
`;

/** A class with one decorated member. */
export const method = (decorator: string, member: string): string => `export class Shop {\n${decorator}\n${member}\n}`;
