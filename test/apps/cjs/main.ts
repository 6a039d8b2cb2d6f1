/** An application in CommonJS: connection options against an HTTP server, and the testing entry in place of another. */
import 'reflect-metadata';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { container } from 'tsyringe';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { McpToolset, RunFactory, SessionRegistry, Tool, ToolRegistry } from 'mcp-toolset';
import type { RunOptions, ToolBinding, ToolExecution } from 'mcp-toolset';
import { anthropicTools } from 'mcp-toolset/anthropic';
import { openaiChatTools, openaiTools } from 'mcp-toolset/openai';
import { createTestServer, overrideClient } from 'mcp-toolset/testing';

/** Stateless: each request gets a server and a transport of its own. */
const web = createServer((request, response) => {
  const server = new Server({ name: 'weather', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: 'forecast', description: 'The weather of tomorrow.', inputSchema: { type: 'object' as const } }],
  }));
  server.setRequestHandler(CallToolRequestSchema, () => ({
    content: [{ type: 'text', text: 'rain' }],
    structuredContent: { sky: 'rain', actor: request.headers['x-actor'] },
  }));
  // The SDK's own transport is not written for exactOptionalPropertyTypes: `undefined` is its word for "stateless".
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined } as object);
  response.on('close', () => void server.close());
  void server
    .connect(transport as Parameters<Server['connect']>[0])
    .then(() => transport.handleRequest(request, response));
});

@McpToolset({
  connection: ({ run }: ToolBinding) => ({
    url: `http://127.0.0.1:${(web.address() as AddressInfo).port}/mcp`,
    headers: { 'x-actor': run?.invocation.actorId ?? 'nobody' },
    allowInsecureHttp: true,
  }),
})
class WeatherTools {}

@McpToolset({ connection: { url: 'https://orders.example/mcp', timeout: 5_000 } })
class OrderTools {}

const Echo = Tool.define({
  name: 'echo',
  description: 'Says it again.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  call: (input: { text: string }) => input.text,
});

const brief = ({ status, content, value }: ToolExecution) => ({ status, content, value });

async function main(): Promise<void> {
  web.listen(0, '127.0.0.1');
  await once(web, 'listening');
  const application = container.createChildContainer();
  const orders = createTestServer({
    tools: {
      status: {
        description: 'Where an order is.',
        inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
        call: () => 'on its way',
      },
    },
  });
  overrideClient(application, OrderTools, orders);

  const options: RunOptions = { actorId: 'ada', container: application };
  const run = application.resolve(RunFactory).start(options);
  const tools = run.resolve(ToolRegistry);
  await tools.register(WeatherTools, OrderTools, Echo);
  const answer = {
    names: [...tools.names].sort(),
    forecast: brief(await tools.execute({ name: 'forecast', input: {} })),
    status: brief(await tools.execute({ name: 'status', input: { id: '7' } })),
    echo: brief(await tools.execute({ name: 'echo', input: { text: 'hello' } })),
    calls: orders.calls.length,
    presented: [anthropicTools(tools), openaiTools(tools), openaiChatTools(tools)].map(({ length }) => length),
  };
  await run.close();
  console.log(JSON.stringify({ ...answer, sessions: application.resolve(SessionRegistry).size }));
  web.closeAllConnections();
  web.close();
}

void main();
