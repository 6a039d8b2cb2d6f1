import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateClient,
  MapTool,
  McpTool,
  McpToolset,
  ToolRegistry,
  type MapToolContext,
  type McpToolClass,
} from 'mcp-toolset';
import { createTestServer, type TestServer } from 'mcp-toolset/testing';
import { startRawHttp, text, tool, type HttpExchange } from '../servers';
import { deferred } from './deferred';
import { closeRunsAfterEach, discover, namesOf, registered, startRun } from './started-run';

closeRunsAfterEach();

const newServer = (...names: string[]): TestServer =>
  createTestServer({ tools: Object.fromEntries(names.map((name) => [name, { call: () => name }])) });

describe('R6: the way of a discovery', () => {
  it('forwards the connect options to the client', async () => {
    const server = newServer('a');
    const connected: (RequestOptions | undefined)[] = [];
    class Watched extends Client {
      override connect(transport: Transport, options?: RequestOptions): Promise<void> {
        connected.push(options);
        return super.connect(transport, options);
      }
    }
    const onprogress = (): void => undefined;
    @McpToolset()
    class Shop {
      @CreateClient({ timeout: 5_000, maxTotalTimeout: 9_000, onprogress })
      async client() {
        const { transport } = await server.connect();
        return { client: new Watched({ name: 'app', version: '1.0.0' }), transport };
      }
    }
    await discover(Shop);
    expect(connected).toEqual([expect.objectContaining({ maxTotalTimeout: 9_000, onprogress })]);
  });

  it("the connect options' timeout bounds connecting, and only connecting", async () => {
    const http = await startRawHttp({ on: { initialize: (exchange) => exchange.hang() } });
    @McpToolset({ timeout: 20_000 })
    class Shop {
      @CreateClient({ timeout: 15 })
      client() {
        return {
          client: new Client({ name: 'app', version: '1.0.0' }),
          transport: new StreamableHTTPClientTransport(new URL(http.url)),
        };
      }
    }
    await expect(discover(Shop)).rejects.toThrow('Toolset Shop, initialize: no answer within 15 ms');
  });

  it('lists every page and generates one class per definition, in the order of the list', async () => {
    const http = await startRawHttp({
      tools: ({ cursor }) =>
        cursor === undefined
          ? { tools: [tool('b'), tool('a')], nextCursor: '2' }
          : cursor === '2'
            ? { tools: [], nextCursor: '3' }
            : { tools: [tool('c', { title: 'C', extra: [1] })] },
      call: ({ name, arguments: args }) => text(`${name} ${JSON.stringify(args)}`),
    });
    @McpToolset({ connection: http.connection })
    class Shop {}
    const run = startRun();
    const classes = await discover(Shop, run);
    expect(classes.map(({ toolName }) => toolName)).toEqual(['b', 'a', 'c']);
    expect(classes.every(({ prototype }) => prototype instanceof McpTool)).toBe(true);
    expect(classes[2]?.mcpTool).toEqual(tool('c', { title: 'C', extra: [1] }));
    const registry = await registered(classes, run);
    expect(await registry.execute({ name: 'c', input: { x: 1 } })).toMatchObject({ content: 'c {"x":1}' });
  });

  it('applies tools, then @MapTool, then checks names: what is not selected is not mapped', async () => {
    const server = newServer('keep', 'drop', 'a.b', 'bad');
    const mapped: string[][] = [];
    @McpToolset({ tools: { exclude: ['drop'], prefix: 'p_' } })
    class Shop {
      @CreateClient()
      client() {
        return server.connect();
      }
      @MapTool()
      async curate(toolClass: McpToolClass, { mcpTool, binding }: MapToolContext) {
        mapped.push([mcpTool.name, toolClass.toolName, String(binding.run === run)]);
        if (mcpTool.name === 'bad') return null;
        if (mcpTool.name === 'a.b') toolClass.toolName = 'mine';
        return toolClass;
      }
    }
    const run = startRun();
    expect(await namesOf(Shop, run)).toEqual(['p_keep', 'mine']);
    expect(mapped).toEqual([
      ['keep', 'p_keep', 'true'],
      ['a.b', 'p_a_b', 'true'],
      ['bad', 'p_bad', 'true'],
    ]);
  });

  it('discovers the toolsets of one registration in parallel, and keeps the order of the entries', async () => {
    const waiting: HttpExchange[] = [];
    const { promise: both, resolve } = deferred();
    const hold = (exchange: HttpExchange): void => void (waiting.push(exchange) === 2 && resolve());
    const [one, two] = [
      await startRawHttp({ tools: [tool('one')], on: { 'tools/list': hold } }),
      await startRawHttp({ tools: [tool('two')], on: { 'tools/list': hold } }),
    ];
    @McpToolset({ connection: one.connection })
    class One {}
    @McpToolset({ connection: two.connection })
    class Two {}
    const registry = startRun().resolve(ToolRegistry);
    const registering = registry.register(One, [Two]);
    await both;
    await waiting[waiting.findIndex(({ headers }) => two.url.includes(String(headers.host)))]?.polite();
    await two.waitForNoRequests();
    expect(registry.names).toEqual([]);
    await waiting[waiting.findIndex(({ headers }) => one.url.includes(String(headers.host)))]?.polite();
    await registering;
    expect(registry.names).toEqual(['one', 'two']);
  });
});
