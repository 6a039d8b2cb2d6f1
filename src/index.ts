// First of all: tsyringe, which most of the rest imports, refuses to load before Reflect has metadata.
import './toolset/metadata';

export {
  AuthorizationRequiredError,
  CancelledError,
  CleanupError,
  ConfigurationError,
  DeadlineExceededError,
  McpToolsetError,
  ProtocolError,
  ProviderError,
  ToolError,
} from './errors';
export type { CallOutcome, McpToolsetErrorOptions } from './errors';

export { configureMcpToolset } from './settings';
export type { LimitOptions, Limits, Logger, McpToolsetConfiguration } from './settings';

export { Run } from './run/run';
export type { Invocation, RunParts, RunResource, RunState } from './run/run';
export { RunFactory } from './run/run-factory';
export type { RunOptions } from './run/run-factory';

export { Artifact } from './tool/artifact';
export type { AnyArtifact, DeferredArtifact, InlineArtifact } from './tool/artifact';
export { ArtifactResolver } from './tool/artifact-resolver';
export type { ArtifactResolverContext } from './tool/artifact-resolver';
export type { ToolCallContext } from './tool/call-context';
export type { ToolExecution } from './tool/execution';
export type { JsonSchema } from './tool/json-schema';
export { Tool } from './tool/tool';
export type { ConcreteTool, ExecuteOptions, ToolClass, ToolDefinition, ToolSpecification } from './tool/tool';
export { ToolBinding } from './tool/tool-binding';
export type { ToolEntry, ToolEntryClass, ToolProvider } from './tool/tool-provider';
export { ToolResult } from './tool/tool-result';

export { CreateClient, MapResult, MapTool, McpToolset, OnError } from './toolset/decorators';
export { ListRoots, OnElicitation, OnLog, OnProgress, OnSampling, OnToolsChanged } from './toolset/handler-decorators';
export type {
  ElicitationAnswer,
  ElicitationRequest,
  HandlerContext,
  ListRootsMethod,
  LogNotification,
  OnElicitationMethod,
  OnLogMethod,
  OnProgressMethod,
  OnSamplingMethod,
  OnToolsChangedMethod,
  ProgressNotification,
  Root,
  SamplingAnswer,
  SamplingRequest,
} from './toolset/handler-types';
export type {
  CreateClientMethod,
  MapResultContext,
  MapResultMethod,
  MapToolContext,
  MapToolMethod,
  McpCallResult,
  McpToolClass,
  McpToolDefinition,
  OnErrorContext,
  OnErrorMethod,
} from './toolset/callbacks';
export type {
  Awaitable,
  ConnectionOptions,
  ConnectionSource,
  ConnectOptions,
  HttpConnectionOptions,
  OfficialAuthProvider,
  OfficialClient,
  OfficialTransport,
  RequestSigner,
  StdioConnectionOptions,
  UnconnectedClient,
} from './toolset/client-source';
export type { MethodDecoratorOf } from './toolset/method-role';
export type { ToolsetClass } from './toolset/definition';
export type { CatalogOptions, SessionOptions, TaskOptions, ToolSelection, ToolsetOptions } from './toolset/options';

export { CatalogStore } from './mcp/catalog-store';
export type { KeyvLike } from './mcp/catalog-store';
export { ClientFactory } from './mcp/client-factory';
export { completeAuthorization } from './mcp/complete-authorization';
export { ToolsetDiscovery } from './mcp/discovery';
export { McpTool } from './mcp/mcp-tool';
export { SessionRegistry } from './mcp/session-registry';
export type { OpenSession } from './mcp/session-registry';

export { ToolRegistry } from './registry/tool-registry';
export type { ToolCall } from './registry/tool-registry';
