import type { JsonSchema } from '../tool/json-schema';
import type { ToolBinding } from '../tool/tool-binding';
import type { McpToolDefinition } from './callbacks';
import type { Awaitable } from './client-source';

/** What a handler is told besides what the server sent. */
export interface HandlerContext {
  readonly binding: ToolBinding;
  /** Aborts when the run ends, the call is given up, or the server takes its request back. */
  readonly signal: AbortSignal;
  /** The tool whose call this belongs to, where that can be told. */
  readonly mcpTool?: McpToolDefinition;
  /** The arguments of that call. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** The id that the model gave that call. */
  readonly callId?: string;
}

/** What a server asks of the user (MCP specification, Elicitation): to fill in a form, or to visit a URL. */
export interface ElicitationRequest {
  /** `form` where the server does not say. */
  readonly mode?: 'form' | 'url';
  readonly message: string;
  /** Form mode: JSON Schema of the content. */
  readonly requestedSchema?: JsonSchema;
  /** URL mode: where the user is to go. */
  readonly url?: string;
  /** URL mode: by which the server knows this request again. */
  readonly elicitationId?: string;
  readonly [field: string]: unknown;
}

/** The user's answer (MCP specification, Elicitation, response actions). */
export interface ElicitationAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** Form mode, `accept`: what was filled in; defaults of the schema are applied. */
  readonly content?: Readonly<Record<string, unknown>> | undefined;
}

/** A message that a server wants a model to answer (MCP specification, Sampling). */
export interface SamplingRequest {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly modelPreferences?: Readonly<Record<string, unknown>>;
  /** Tools that the model may use, where the server brings some. */
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
  readonly toolChoice?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** The model's answer (MCP specification, Sampling). */
export interface SamplingAnswer {
  readonly role: 'assistant' | 'user';
  readonly model: string;
  /** A content block; with tools also an array of them. */
  readonly content: unknown;
  readonly stopReason?: string | undefined;
}

/** A folder or file that a server may work in (MCP specification, Roots). */
export interface Root {
  /** A `file:` URL. */
  readonly uri: string;
  readonly name?: string | undefined;
}

/** How far a call is (MCP specification, Progress). */
export interface ProgressNotification {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
  readonly [field: string]: unknown;
}

/** A line of a server's log (MCP specification, Logging). */
export interface LogNotification {
  readonly level: string;
  readonly logger?: string;
  readonly data: unknown;
  readonly [field: string]: unknown;
}

/** Signature of a method marked `@OnElicitation`. */
export type OnElicitationMethod = (
  request: ElicitationRequest,
  context: HandlerContext,
) => Awaitable<ElicitationAnswer>;

/** Signature of a method marked `@OnSampling`. */
export type OnSamplingMethod = (request: SamplingRequest, context: HandlerContext) => Awaitable<SamplingAnswer>;

/** Signature of a method marked `@ListRoots`. */
export type ListRootsMethod = (request: object, context: HandlerContext) => Awaitable<readonly Root[]>;

/** Signature of a method marked `@OnProgress`. */
export type OnProgressMethod = (progress: ProgressNotification, context: HandlerContext) => unknown;

/** Signature of a method marked `@OnLog`. */
export type OnLogMethod = (log: LogNotification, context: HandlerContext) => unknown;

/** Signature of a method marked `@OnToolsChanged`. */
export type OnToolsChangedMethod = (notification: object, context: HandlerContext) => unknown;
