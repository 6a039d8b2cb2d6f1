import { container, type DependencyContainer } from 'tsyringe';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  configureMcpToolset,
  CreateClient,
  MapResult,
  McpToolset,
  RunFactory,
  ToolRegistry,
  type ConnectionOptions,
  type MapResultContext,
  type MapResultMethod,
  type Run,
  type ToolEntry,
  type ToolExecution,
  type ToolsetClass,
  type ToolsetOptions,
} from 'mcp-toolset';
import { servers, startRawHttp, tool, type HttpExchange, type JsonObject } from '../servers';

/** A run whose registry holds the tools of a test, and what the library warned of. */
export interface Served {
  readonly run: Run;
  readonly tools: ToolRegistry;
  readonly warnings: string[];
  /** Calls a tool, the first one by default. */
  call(input?: unknown, name?: string): Promise<ToolExecution>;
}

const runs: Run[] = [];

/** Ends, after each test, its runs and then its servers. */
export function closeAfterEach(): void {
  afterEach(async () => {
    for (const run of runs.splice(0)) await run.close();
    await servers.closeAll();
  });
}

/** Starts a run and registers the entries in it. */
export function serve(...entries: ToolEntry[]): Promise<Served> {
  return serveIn(container, ...entries);
}

/** The same from a container of the test's own. */
export async function serveIn(parent: DependencyContainer, ...entries: ToolEntry[]): Promise<Served> {
  const warnings: string[] = [];
  const own = parent.createChildContainer();
  const logger = { debug: () => {}, warn: (text: string) => void warnings.push(text), error: () => {} };
  configureMcpToolset(own, { logger });
  const run = own.resolve(RunFactory).start({ container: own });
  runs.push(run);
  const tools = run.resolve(ToolRegistry);
  await tools.register(...entries);
  const call = (input?: unknown, name = tools.names[0] ?? ''): Promise<ToolExecution> => tools.execute({ name, input });
  return { run, tools, warnings, call };
}

/** How a toolset of a test differs from the plainest one. */
export interface ServedOptions extends Omit<ToolsetOptions, 'connection' | 'name'> {
  readonly mapResult?: MapResultMethod;
}

/** A toolset named `served`. */
export function toolsetOf(connection: ConnectionOptions, { mapResult, ...options }: ServedOptions = {}): ToolsetClass {
  @McpToolset({ name: 'served', connection, ...options })
  class PlainTools {}
  return mapResult ? mapped(PlainTools, mapResult) : PlainTools;
}

/** The same through the SDK's own transport, which bounds nothing. */
export function unboundedToolset(url: string, { mapResult, ...options }: ServedOptions = {}): ToolsetClass {
  @McpToolset({ name: 'served', ...options })
  class UnboundedTools {
    @CreateClient()
    client() {
      const transport = new StreamableHTTPClientTransport(new URL(url));
      return { client: new Client({ name: 'test', version: '1.0.0' }), transport };
    }
  }
  return mapResult ? mapped(UnboundedTools, mapResult) : UnboundedTools;
}

function mapped(base: new () => object, mapResult: MapResultMethod): ToolsetClass {
  @McpToolset()
  class MappedTools extends base {
    @MapResult()
    present(value: unknown, context: MapResultContext) {
      return mapResult(value, context);
    }
  }
  return MappedTools;
}

/** What a tool of a scripted HTTP server answers, and how. */
export interface Answered extends ServedOptions {
  /** Fields of the tool's definition. */
  readonly definition?: JsonObject;
  /** Through the SDK's own transport, which bounds no response. */
  readonly unbounded?: boolean;
}

/** A run with one tool, `answer`, of a scripted HTTP server that answers every call with `result`, as JSON or as an object. */
export async function answering(
  result: unknown,
  { definition, unbounded, ...options }: Answered = {},
): Promise<Served> {
  const json = typeof result === 'string' ? result : JSON.stringify(result);
  const server = await startRawHttp({
    tools: [tool('answer', definition)],
    call: (_params, exchange) => sendJson(exchange, json),
  });
  return serve(unbounded ? unboundedToolset(server.url, options) : toolsetOf(server.connection, options));
}

/** The execution of a call that a scripted HTTP server answers with `result`. */
export async function executionOf(result: unknown, options: Answered = {}): Promise<ToolExecution> {
  const { call } = await answering(result, options);
  return call();
}

/** Answers with a result that is JSON already, so that it may be deeper than anything that can be serialised. */
export function sendJson(exchange: HttpExchange, result: string): void {
  const body = `{"jsonrpc":"2.0","id":${JSON.stringify(exchange.id)},"result":${result}}`;
  exchange.raw(200, { 'content-type': 'application/json' }, body);
}
