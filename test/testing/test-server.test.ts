import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { container } from 'tsyringe';
import { McpToolset, OnError, RunFactory, ToolRegistry } from 'mcp-toolset';
import { createTestServer, overrideClient } from 'mcp-toolset/testing';

const connection = { url: 'https://example.test/mcp' };

describe('what the page on testing says of servers', () => {
  it('a test server is called with whatever arguments a call has', async () => {
    @McpToolset({ connection })
    class Shop {}
    const inputSchema = { type: 'object' as const, properties: { q: { type: 'string' } }, required: ['q'] };
    const server = createTestServer({ tools: { search: { inputSchema, call: () => 'found' } } });
    const scope = container.createChildContainer();
    overrideClient(scope, Shop, server);
    await using run = scope.resolve(RunFactory).start();
    const tools = run.resolve(ToolRegistry);
    await tools.register(Shop);
    expect(await tools.execute({ name: 'search', input: { wrong: 1 } })).toMatchObject({ status: 'success' });
    expect(server.calls).toEqual([{ name: 'search', arguments: { wrong: 1 } }]);
  });

  it('a transport that does not start is a server that is down, as @OnError sees it', async () => {
    const told: unknown[] = [];
    @McpToolset({ connection, optional: true })
    class Down {
      @OnError()
      note(error: Error): void {
        told.push(error.message);
      }
    }
    const scope = container.createChildContainer();
    const transport = {
      start: () => Promise.reject(new Error('ECONNREFUSED')),
      send: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
    overrideClient(scope, Down, {
      connect: () => ({ client: new Client({ name: 'test', version: '1.0.0' }), transport }),
    });
    await using run = scope.resolve(RunFactory).start();
    const tools = run.resolve(ToolRegistry);
    await tools.register(Down);
    expect(tools.names).toEqual([]);
    expect(told).toEqual([expect.stringContaining('ECONNREFUSED')]);
  });
});
