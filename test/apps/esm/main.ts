/**
 * An application in ES modules: its `Client`, transports and errors come from the SDK's ES build, while the library loads
 * the CommonJS one. `instanceof` between the two is false, and everything has to work all the same.
 */
import 'reflect-metadata';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { once } from 'node:events';
import { container, injectable } from 'tsyringe';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js';
import {
  CreateClient,
  MapResult,
  MapTool,
  McpToolset,
  McpToolsetError,
  OnError,
  RunFactory,
  ToolBinding,
  ToolRegistry,
} from 'mcp-toolset';
import type { MapResultContext, MapToolContext, McpToolClass } from 'mcp-toolset';

function notesServer(): Server {
  const server = new Server({ name: 'notes', version: '1.0.0' }, { capabilities: { tools: {} } });
  const inputSchema = { type: 'object' as const, properties: { text: { type: 'string' } } };
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: ['add', 'refuse', 'secret'].map((name) => ({ name, description: `The ${name} tool.`, inputSchema })),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    if (params.name === 'refuse') throw new McpError(ErrorCode.InvalidParams, 'the notebook is full');
    return { content: [{ type: 'text', text: `added ${String(params.arguments?.['text'])}` }] };
  });
  return server;
}

@McpToolset({ name: 'notes' })
class NotesTools {
  @CreateClient({ timeout: 10_000 })
  async client({ run }: ToolBinding) {
    const [transport, serverSide] = InMemoryTransport.createLinkedPair();
    await notesServer().connect(serverSide);
    return { client: new Client({ name: `app of ${run?.invocation.actorId}`, version: '1.0.0' }), transport };
  }

  @MapTool()
  curate(tool: McpToolClass, { mcpTool }: MapToolContext) {
    if (mcpTool.name === 'secret') return null;
    tool.toolName = `notes_${mcpTool.name}`;
    return tool;
  }

  @MapResult()
  present(value: unknown, { mcpTool }: MapResultContext) {
    return mcpTool.name === 'add' ? `${String(value)}!` : value;
  }
}

const web = createServer((_, response) => response.writeHead(503).end('out of order'));
const failures: { name: string; code: string; own: boolean }[] = [];

@McpToolset({ name: 'down', optional: true })
class DownTools {
  @CreateClient()
  client() {
    const { port } = web.address() as AddressInfo;
    return {
      client: new Client({ name: 'app', version: '1.0.0' }),
      transport: new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)),
    };
  }

  @OnError()
  report(error: McpToolsetError) {
    failures.push({ name: error.name, code: error.code, own: error instanceof McpToolsetError });
  }
}

@injectable()
class Controller {
  constructor(private readonly tools: ToolRegistry) {}

  async answer() {
    await this.tools.register(NotesTools, DownTools);
    const added = await this.tools.execute({ id: 'call_1', name: 'notes_add', input: { text: 'milk' } });
    const refused = await this.tools.execute({ id: 'call_2', name: 'notes_refuse', input: {} });
    return {
      names: [...this.tools.names],
      added: { status: added.status, content: added.content },
      refused: { status: refused.status, content: refused.content, error: refused.error?.constructor.name },
    };
  }
}

web.listen(0, '127.0.0.1');
await once(web, 'listening');
const required = createRequire(import.meta.url)('mcp-toolset') as typeof import('mcp-toolset');
{
  await using run = container.resolve(RunFactory).start({ actorId: 'ada', timeout: 60_000 });
  const answer = await run.resolve(Controller).answer();
  console.log(JSON.stringify({ ...answer, failures, oneCopy: required.McpToolset === McpToolset }));
}
web.closeAllConnections();
web.close();
