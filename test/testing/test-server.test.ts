import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { container } from 'tsyringe';
import { ConfigurationError, McpToolset, OnError, RunFactory, ToolRegistry } from 'mcp-toolset';
import { createTestServer, overrideClient } from 'mcp-toolset/testing';
import { z } from 'zod';

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

describe('a tool that is none is refused when the server is made', () => {
  const call = (): string => 'found';
  it.each<[string, unknown, string]>([
    ['without a call', { description: 'Finds.' }, '"call" is missing; expected the function that answers a call'],
    ['with another name for it', { execute: call }, '"call" is missing; expected the function that answers a call'],
    ['with an answer in its place', { call: 'found' }, '"call" is "found"; expected the function that answers a call'],
    [
      'that is a function',
      call,
      "it is a value of type function; expected an object such as { call: () => 'the answer' }",
    ],
    ['that is a class', class Search {}, 'it is a value of type function; expected an object'],
    ['that is missing', undefined, 'it is missing; expected an object'],
    ['with a description that is no text', { call, description: 7 }, '"description" is a value of type number'],
    ['with an inputSchema of zod', { call, inputSchema: z.object({}) }, '"inputSchema" is a zod schema; expected JSON'],
    ['with an outputSchema that is none', { call, outputSchema: [] }, '"outputSchema" is a value of type object'],
  ])('%s', (_what, tool, fault) => {
    const tools = { fine: { call }, search: tool } as never;
    expect(() => createTestServer({ tools })).toThrow(ConfigurationError);
    expect(() => createTestServer({ tools })).toThrow(`createTestServer, tool "search": ${fault}`);
  });

  it.each([[undefined], [{}], [{ tools: [{ name: 'search', call }] }]])(
    'or where the tools should be: %j',
    (options) => {
      const expected = 'createTestServer: expected { tools: { name: { description, inputSchema, call } } }.';
      expect(() => createTestServer(options as never)).toThrow(new ConfigurationError(expected));
    },
  );
});
