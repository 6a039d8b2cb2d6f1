import {
  configureMcpToolset,
  CreateClient,
  ListRoots,
  McpToolset,
  OnElicitation,
  OnLog,
  OnProgress,
  OnSampling,
  OnToolsChanged,
  type ConnectionSource,
  type ListRootsMethod,
  type Logger,
  type OnElicitationMethod,
  type OnLogMethod,
  type OnProgressMethod,
  type OnSamplingMethod,
  type OnToolsChangedMethod,
  type Run,
  type RunOptions,
  type ToolExecution,
  type ToolRegistry,
  type ToolsetClass,
  type ToolsetOptions,
  type UnconnectedClient,
} from 'mcp-toolset';
import { isObject, type JsonObject } from '../servers/rpc';
import { startRawHttp, text, tool, type HttpExchange, type RawHttpScript, type RawHttpServer } from '../servers';
import { registered, startRun } from '../contract/live-run';

/** The handlers of a toolset, by the names of its methods. */
export interface HandlerMethods {
  elicit?: OnElicitationMethod;
  sample?: OnSamplingMethod;
  roots?: ListRootsMethod;
  progress?: OnProgressMethod;
  log?: OnLogMethod;
  changed?: OnToolsChangedMethod;
}

/** Where a toolset has its clients from: `connection`, or a method marked `@CreateClient`. */
export type Source =
  { readonly connection: ConnectionSource } | { readonly create: () => UnconnectedClient | Promise<UnconnectedClient> };

const DECORATORS: Readonly<Record<keyof HandlerMethods, () => unknown>> = {
  elicit: OnElicitation,
  sample: OnSampling,
  roots: ListRoots,
  progress: OnProgress,
  log: OnLog,
  changed: OnToolsChanged,
};

/** A toolset named Asking that has these handlers and no others. */
export function askingToolset(source: Source, handlers: HandlerMethods, options: ToolsetOptions = {}): ToolsetClass {
  class Asking {}
  const mark = (key: string, method: unknown, decorator: unknown): void => {
    Object.defineProperty(Asking.prototype, key, { value: method, configurable: true });
    const descriptor = Object.getOwnPropertyDescriptor(Asking.prototype, key);
    (decorator as MethodDecorator)(Asking.prototype, key, descriptor ?? {});
  };
  for (const [key, method] of Object.entries(handlers)) mark(key, method, DECORATORS[key as keyof HandlerMethods]());
  if ('create' in source) mark('client', source.create, CreateClient());
  McpToolset({ ...options, ...('connection' in source && { connection: source.connection }) })(Asking);
  return Asking;
}

/** What a library under test has logged. */
export class Log implements Logger {
  readonly warnings: string[] = [];
  readonly errors: string[] = [];
  /** What was logged beside the messages of errors. */
  readonly thrown: unknown[] = [];

  debug(): void {
    // nobody asks for it
  }

  warn(message: string): void {
    this.warnings.push(message);
  }

  error(message: string, thrown: unknown): void {
    this.errors.push(message);
    this.thrown.push(thrown);
  }
}

/** A run in which a toolset with handlers is registered. */
export interface Scene {
  readonly run: Run;
  readonly registry: ToolRegistry;
  readonly log: Log;
}

/** Starts a run and registers the toolset there; the run is closed after the test. */
export async function scene(
  source: Source,
  handlers: HandlerMethods,
  { run: runOptions, ...options }: ToolsetOptions & { readonly run?: RunOptions } = {},
): Promise<Scene> {
  const run = startRun(runOptions);
  const log = new Log();
  configureMcpToolset(run.container, { logger: log });
  return { run, log, registry: await registered(run, askingToolset(source, handlers, options)) };
}

/** What a client replied to a server's request. */
export interface Reply {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A server whose tool `ask` sends the request `{ method, params }` and answers with what the client replied. */
export async function askingServer(script: RawHttpScript = {}): Promise<RawHttpServer> {
  let asked = 0;
  const server: RawHttpServer = await startRawHttp({
    tools: [tool('ask')],
    call: async ({ arguments: { method, params } = {} }, exchange) => {
      const id = `ask-${(asked += 1)}`;
      const stream = exchange.sse().request(id, String(method), isObject(params) ? params : undefined);
      const { message } = await replyTo(server, id);
      stream.reply(text(JSON.stringify(message))).end();
    },
    ...script,
  });
  return server;
}

/** The request by which a client replies to a server's request of this id. */
export function replyTo(server: RawHttpServer, id: string): Promise<HttpExchange> {
  return server.waitFor((exchange) => exchange.method === 'response' && exchange.id === id);
}

/** Has the server ask, and returns what it was answered. */
export async function ask(registry: ToolRegistry, method: string, params: JsonObject = {}): Promise<Reply> {
  return replyIn(await registry.execute({ name: 'ask', input: { method, params } }));
}

/** The reply that an asking server tells of. */
export function replyIn({ content }: ToolExecution): Reply {
  const { result, error } = JSON.parse(content) as Reply;
  return error ? { error } : { result };
}

/** What a server is told of a failure that is none of its business. */
export const UNDISCLOSED = { error: { code: -32603, message: 'The client could not answer the request.' } };

/** The parameters of an elicitation in form mode. */
export function form(properties: JsonObject, rest: JsonObject = {}): JsonObject {
  return { message: 'Please fill in.', requestedSchema: { type: 'object', properties, ...rest } };
}

/** The parameters of a request for a model's message. */
export function sampling(prompt: string, rest: JsonObject = {}): JsonObject {
  return { messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens: 100, ...rest };
}
