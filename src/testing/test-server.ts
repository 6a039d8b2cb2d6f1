import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { CallToolResult, Tool as SdkTool } from '@modelcontextprotocol/sdk/types.js';
import { ConfigurationError, messageOf } from '../errors';
import { quoted } from '../mcp/quoted';
import { showOnly } from '../run/show-only';
import { schemaFault, show } from '../tool/declaration';
import type { JsonSchema } from '../tool/json-schema';
import type { UnconnectedClient } from '../toolset/client-source';

/** A tool of a test server. */
export interface TestTool {
  /** What the model is told; left out, the server publishes none. */
  readonly description?: string | undefined;
  /** JSON Schema of the arguments. Default: an object with whatever in it. */
  readonly inputSchema?: JsonSchema | undefined;
  /** JSON Schema of the structured content. */
  readonly outputSchema?: JsonSchema | undefined;
  /** Further fields of the definition, such as `title` or `annotations`. */
  readonly [field: string]: unknown;
  /**
   * Answers a call: a string becomes text, an object with `content` is the result itself, any other value becomes
   * structured content with its JSON as text. What it throws becomes a result that is marked as an error.
   */
  call(args: Record<string, unknown>, context: TestCallContext): unknown;
}

/** What `call` is told besides the arguments. */
export interface TestCallContext {
  /** Aborts when the client cancels the call. */
  readonly signal: AbortSignal;
}

/** A call that a test server received. */
export interface RecordedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What `createTestServer` takes. */
export interface TestServerOptions {
  /** The tools, by their wire names. */
  readonly tools: Readonly<Record<string, TestTool>>;
}

/** An MCP server in memory: the SDK's own, with tools from functions. Every client has a session of its own. */
export class TestServer {
  /** The calls that it received, the first one first. */
  readonly calls: RecordedCall[] = [];
  private readonly open = new Set<Server>();

  /** Made by `createTestServer`. */
  constructor(private readonly tools: ReadonlyMap<string, TestTool>) {
    showOnly(this, ['calls']);
  }

  /** How many clients are connected. */
  get connections(): number {
    return this.open.size;
  }

  /** A new client, unconnected, with a transport to this server. */
  async connect(): Promise<UnconnectedClient> {
    const [transport, serverTransport] = InMemoryTransport.createLinkedPair();
    const server = this.serverForOneClient();
    await server.connect(serverTransport);
    this.open.add(server);
    return { client: new Client({ name: 'mcp-toolset-testing', version: '0.1.0' }), transport };
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    await Promise.all([...this.open].map((server) => server.close()));
  }

  private serverForOneClient(): Server {
    const server = new Server({ name: 'test-server', version: '0.1.0' }, { capabilities: { tools: {} } });
    server.onclose = () => void this.open.delete(server);
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...this.tools].map(definitionOf) }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
      const call: RecordedCall = { name: params.name, arguments: params.arguments ?? {} };
      this.calls.push(call);
      return this.answer(call, { signal });
    });
    return server;
  }

  private async answer(call: RecordedCall, context: TestCallContext): Promise<CallToolResult> {
    try {
      const tool = this.tools.get(call.name);
      if (!tool) throw new Error(`Unknown tool: ${call.name}`);
      return resultOf(await tool.call({ ...call.arguments }, context));
    } catch (error) {
      return { isError: true, content: [{ type: 'text', text: messageOf(error) }] };
    }
  }
}

/**
 * An MCP server in memory for an application's tests, which records its calls.
 * @throws ConfigurationError that names the tool which cannot be published or called
 */
export function createTestServer(options: TestServerOptions): TestServer {
  const { tools } = Object(options) as Partial<TestServerOptions>;
  if (typeof tools !== 'object' || tools === null || Array.isArray(tools)) {
    throw new ConfigurationError('createTestServer: expected { tools: { name: { description, inputSchema, call } } }.');
  }
  for (const [name, tool] of Object.entries(tools)) {
    const fault = faultOf(tool);
    if (fault !== undefined) throw new ConfigurationError(`createTestServer, tool ${quoted(name)}: ${fault}`);
  }
  return new TestServer(new Map(Object.entries(tools)));
}

/** What is wrong with a tool. A function is none, though it has a `call` as well. */
function faultOf(tool: unknown): string | undefined {
  if (typeof tool !== 'object' || tool === null || Array.isArray(tool)) {
    return `it is ${show(tool)}; expected an object such as { call: () => 'the answer' }.`;
  }
  const { call, description, ...schemas } = tool as { readonly [Field in keyof TestTool]?: unknown };
  if (typeof call !== 'function') {
    return `"call" is ${show(call)}; expected the function that answers a call, such as () => 'the answer'.`;
  }
  if (description !== undefined && typeof description !== 'string') {
    return `"description" is ${show(description)}; expected a text, or leave it out.`;
  }
  const given = (['inputSchema', 'outputSchema'] as const).filter((field) => schemas[field] !== undefined);
  return given.map((field) => schemaFault(field, schemas[field])).find((fault) => fault !== undefined);
}

function definitionOf([name, tool]: readonly [string, TestTool]): SdkTool {
  const definition = Object.fromEntries(Object.entries(tool).filter(([field]) => field !== 'call'));
  return { inputSchema: { type: 'object' as const }, ...definition, name };
}

function resultOf(answer: unknown): CallToolResult {
  if (typeof answer === 'string') return { content: [{ type: 'text', text: answer }] };
  if (answer === undefined) return { content: [] };
  if (typeof answer === 'object' && answer !== null && 'content' in answer) return answer as CallToolResult;
  const text = JSON.stringify(answer);
  const isObject = typeof answer === 'object' && answer !== null && !Array.isArray(answer);
  return {
    content: [{ type: 'text', text }],
    ...(isObject && { structuredContent: answer as Record<string, unknown> }),
  };
}
