import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateClient,
  McpToolset,
  ProtocolError,
  ProviderError,
  type ToolsetClass,
  type UnconnectedClient,
} from 'mcp-toolset';
import { overrideClient } from 'mcp-toolset/testing';
import { closeServersAfterEach, rawStdio, startRawHttp, text, tool, type RawHttpScript } from '../servers';
import { rejection, shop, useCatalogScene } from './catalog-scene';
import { RawMemory } from './raw-memory';

const scene = useCatalogScene();
closeServersAfterEach();

async function listing(...tools: readonly unknown[]): Promise<ToolsetClass> {
  return shop((await startRawHttp({ tools })).connection);
}

describe('R12: what is missing or odd in a definition is repaired', () => {
  it.each([
    ['missing', {}],
    ['null', { description: null }],
    ['empty', { description: '' }],
    ['blank', { description: ' \t\n\u00a0' }],
    ['a number', { description: 7 }],
    ['an object', { description: { text: 'Finds things' } }],
  ])('R12: a description that is %s becomes a plain sentence that names tool and toolset', async (_what, fields) => {
    const registry = await scene.registered(
      await listing({ name: 'search', inputSchema: { type: 'object' }, ...fields }),
    );
    expect(registry.specifications).toEqual([
      { name: 'search', description: 'The tool search of Shop.', inputSchema: { type: 'object' } },
    ]);
    expect(scene.warnings).toEqual([]);
  });

  it('R12: the sentence has the name that the toolset was given', async () => {
    const server = await startRawHttp({ tools: [{ name: 'search' }] });
    const registry = await scene.registered(shop(server.connection, { name: 'Help Center' }));
    expect(registry.specifications[0]?.description).toBe('The tool search of Help Center.');
  });

  it('R12: other descriptions stay as they are', async () => {
    const description = '  Finds things.\n\nUse it *often*. <b>💥</b> ';
    const registry = await scene.registered(await listing(tool('search', { description })));
    expect(registry.specifications[0]?.description).toBe(description);
  });

  it('R12: lone surrogates in a description, or in a name that stands in it, become replacement characters', async () => {
    const toolset = await listing(tool('a', { description: 'half \ud83d of a face' }), { name: 'b\udca5' });
    const [first, second] = (await scene.registered(toolset)).specifications;
    expect(first?.description).toBe('half \ufffd of a face');
    expect(second?.description).toBe('The tool b\ufffd of Shop.');
  });

  it.each([
    ['missing', {}],
    ['null', { inputSchema: null }],
  ])('R12: an inputSchema that is %s becomes one that takes any object', async (_what, fields) => {
    const registry = await scene.registered(await listing({ name: 'search', description: 'Finds.', ...fields }));
    expect(registry.specifications).toEqual([
      { name: 'search', description: 'Finds.', inputSchema: { type: 'object' } },
    ]);
    expect(await registry.execute({ name: 'search', input: { q: 1 } })).toMatchObject({ content: '{"q":1}' });
    expect(scene.warnings).toEqual([]);
  });

  it.each([
    ['without a type', { properties: { q: {} } }],
    ['that is empty', {}],
    ['with boolean sub-schemas', { properties: { q: true, r: false }, additionalProperties: false, not: true }],
    ['of another type', { type: 'string' }],
    ['with keywords that nobody knows', { type: 'object', 'x-order': [1], $vocabulary: 7 }],
    ['that is no valid schema', { type: 'objekt', required: 'q', properties: [] }],
    ['with a $schema that nobody knows', { $schema: 'urn:mine' }],
  ])('R12: a schema %s is accepted as it is', async (_what, inputSchema) => {
    const registry = await scene.registered(await listing(tool('search', { inputSchema })));
    expect(registry.specifications[0]?.inputSchema).toEqual(inputSchema);
    expect(await registry.execute({ name: 'search', input: { q: 1 } })).toMatchObject({ status: 'success' });
    expect(scene.warnings).toEqual([]);
  });

  it('R12: fields that nobody knows are kept in the definition', async () => {
    const definition = tool('search', {
      title: 'Search',
      annotations: { readOnlyHint: 'maybe' },
      icons: 3,
      'x-y': [null],
    });
    const [search] = await scene.discovered(await listing(definition));
    expect(search?.mcpTool).toEqual(definition);
    expect(scene.warnings).toEqual([]);
  });

  it('R12: a nextCursor that is null, as one that is missing, ends the list', async () => {
    let asked = 0;
    const server = await startRawHttp({ tools: () => ({ tools: [tool(`t${(asked += 1)}`)], nextCursor: null }) });
    expect((await scene.registered(shop(server.connection))).names).toEqual(['t1']);
    expect(asked).toBe(1);
  });

  it.each([
    ['is no object', 'a string'],
    ['is an array', []],
    ['has a type that nobody knows', { type: 'objekt' }],
    ['refers to nothing', { $ref: '#/$defs/none' }],
    ['refers to another server', { $ref: 'https://example.test/schema.json' }],
    ['names a $schema that nobody knows', { $schema: 'urn:mine', type: 'object' }],
    ['has a pattern that is none', { properties: { q: { pattern: '(' } } }],
  ])('R12: an outputSchema that %s costs only the checks of that tool, with a warning', async (_what, outputSchema) => {
    const outputs = { type: 'object', required: ['n'] };
    const server = await startRawHttp({
      tools: [tool('bad', { outputSchema }), tool('good', { outputSchema: outputs })],
      call: () => text('done', { structuredContent: { m: 1 } }),
    });
    const registry = await scene.registered(shop(server.connection));
    expect(registry.names).toEqual(['bad', 'good']);

    expect(await registry.execute({ name: 'bad' })).toMatchObject({ status: 'success', value: { m: 1 } });
    expect(await registry.execute({ name: 'bad' })).toMatchObject({ status: 'success' });
    expect(await registry.execute({ name: 'good' })).toMatchObject({
      status: 'error',
      error: expect.any(ProtocolError),
    });
    expect(scene.warnings).toEqual([
      expect.stringMatching(/^Toolset Shop, tool "bad": its outputSchema cannot be used/),
    ]);
  });

  it('R12: nor is structured content missed that a bad outputSchema asks for', async () => {
    const registry = await scene.registered(await listing(tool('bad', { outputSchema: { type: 'objekt' } })));
    expect(await registry.execute({ name: 'bad' })).toMatchObject({ status: 'success', content: '{}' });
    expect(scene.warnings).toHaveLength(1);
  });

  it('R12: an outputSchema that is null is none', async () => {
    const registry = await scene.registered(await listing(tool('search', { outputSchema: null })));
    expect(await registry.execute({ name: 'search' })).toMatchObject({ status: 'success' });
    expect(scene.warnings).toEqual([]);
  });
});

describe('R12: an entry that cannot be used is left out, with a warning that names it', () => {
  it.each([
    ['null', null, /entry 2 .*no object/],
    ['a string', 'search', /entry 2 .*no object/],
    ['an array', [tool('search')], /entry 2 .*no object/],
    ['without a name', { inputSchema: {} }, /entry 2 .*no name/],
    ['whose name is empty', tool(''), /entry 2 .*no name/],
    ['whose name is a number', { name: 7 }, /entry 2 .*no name/],
    ['whose name is null', { name: null }, /entry 2 .*no name/],
    ['whose inputSchema is a string', tool('bad', { inputSchema: 'object' }), /"bad" .*inputSchema/],
    ['whose inputSchema is an array', tool('bad', { inputSchema: [] }), /"bad" .*inputSchema/],
    ['whose inputSchema is a boolean', tool('bad', { inputSchema: true }), /"bad" .*inputSchema/],
    ['whose inputSchema is a number', tool('bad', { inputSchema: 0 }), /"bad" .*inputSchema/],
    ['that repeats a name', tool('good', { description: 'Another.' }), /"good" .*earlier entry/],
  ])('R12: an entry that is %s', async (_what, entry, warning) => {
    const registry = await scene.registered(await listing(tool('good'), entry, tool('last')));
    expect(registry.specifications).toMatchObject([
      { name: 'good', description: 'The tool good.' },
      { name: 'last', description: 'The tool last.' },
    ]);
    expect(scene.warnings).toEqual([expect.stringMatching(warning)]);
    expect(scene.warnings[0]).toMatch(/^Toolset Shop: .*is left out/);
  });

  it('R12: places are counted over all pages', async () => {
    const server = await startRawHttp({
      tools: ({ cursor }) =>
        cursor === undefined ? { tools: [tool('a'), tool('b')], nextCursor: 'n' } : [tool('c'), 5],
    });
    expect((await scene.registered(shop(server.connection))).names).toEqual(['a', 'b', 'c']);
    expect(scene.warnings).toEqual([expect.stringContaining('entry 4')]);
  });

  it('R12: a name that an earlier page has used is repeated too', async () => {
    const server = await startRawHttp({
      tools: ({ cursor }) =>
        cursor === undefined
          ? { tools: [tool('a', { description: 'First.' })], nextCursor: 'n' }
          : [tool('a', { description: 'Second.' })],
    });
    expect((await scene.registered(shop(server.connection))).specifications).toMatchObject([{ description: 'First.' }]);
    expect(scene.warnings).toEqual([expect.stringContaining('"a"')]);
  });

  it('R12: an entry that was left out does not take its name from a later one', async () => {
    const registry = await scene.registered(
      await listing(tool('a', { inputSchema: 5 }), tool('a', { description: 'Good.' })),
    );
    expect(registry.specifications).toMatchObject([{ name: 'a', description: 'Good.' }]);
    expect(scene.warnings).toHaveLength(1);
  });

  it('R12: a warning shows only the beginning of a long name, and no raw control characters', async () => {
    const name = '\u001b[31m\n' + 'x'.repeat(10_000);
    await scene.registered(await listing(tool('a'), tool(name, { inputSchema: [] })));
    expect(scene.warnings).toEqual([expect.stringContaining('"\\u001b[31m\\nxxx')]);
    expect(scene.warnings[0]?.length).toBeLessThan(300);
  });
});

const oddPages: readonly (readonly [string, unknown, RegExp])[] = [
  ['whose tools are missing', {}, /page 1: .*"tools"/],
  ['whose tools are null', { tools: null }, /page 1: .*"tools"/],
  ['whose tools are an object', { tools: { search: tool('search') } }, /page 1: .*"tools"/],
  ['whose nextCursor is a number', { tools: [tool('a')], nextCursor: 2 }, /page 1: .*"nextCursor"/],
  ['whose nextCursor is false', { tools: [tool('a')], nextCursor: false }, /page 1: .*"nextCursor"/],
  ['whose nextCursor is an object', { tools: [tool('a')], nextCursor: {} }, /page 1: .*"nextCursor"/],
  [
    'of which no entry is usable',
    { tools: [null, { name: '' }, tool('a', { inputSchema: 1 })] },
    /not one of its 3 entries/,
  ],
];

describe('R12: a list that is no list is a ProtocolError', () => {
  it.each([
    ['an array', []],
    ['a string', 'tools'],
    ['null', null],
    ['a number', 1],
  ])('R12: a page that is %s', async (_what, page) => {
    const server = await startRawHttp({ on: { 'tools/list': (exchange) => exchange.json(page) } });
    const error = await rejection(scene.registered(shop(server.connection)));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({ toolset: 'Shop', message: expect.stringContaining('tools/list') });
    expect(server.sessions).toEqual([]);
  });

  it.each(oddPages)('R12: a page %s', async (_what, page, message) => {
    const server = await startRawHttp({ tools: () => page });
    const error = await rejection(scene.registered(shop(server.connection)));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({ toolset: 'Shop', message: expect.stringMatching(message) });
    expect(server.sessions).toEqual([]);
  });

  it.each(oddPages)('R12: a later page %s', async (_what, page) => {
    const server = await startRawHttp({
      tools: ({ cursor }) => (cursor === undefined ? { tools: [null], nextCursor: 'two' } : page),
    });
    expect(await rejection(scene.registered(shop(server.connection)))).toBeInstanceOf(ProtocolError);
    expect(server.sessions).toEqual([]);
  });

  it('R12: one usable entry in the whole list is enough', async () => {
    const server = await startRawHttp({
      tools: ({ cursor }) => (cursor === undefined ? { tools: [null, {}], nextCursor: 'two' } : [7, { name: 'good' }]),
    });
    expect((await scene.registered(shop(server.connection))).names).toEqual(['good']);
    expect(scene.warnings).toHaveLength(3);
  });

  it.each(oddPages)('R12: over stdio a page %s', async (_what, page, message) => {
    const server = await rawStdio({ data: { page }, tools: (_params, { data }) => data.page });
    const error = await rejection(scene.registered(shop(server.connection)));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({ message: expect.stringMatching(message) });
  });

  it('R12: a JSON-RPC error in reply is a ProviderError with the code and message of the server', async () => {
    const server = await startRawHttp({ on: { 'tools/list': (exchange) => exchange.error(-31999, 'On holiday') } });
    const error = await rejection(scene.registered(shop(server.connection)));
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ message: expect.stringMatching(/-31999.*On holiday/), cause: { code: -31999 } });
  });

  it('R12: all of it at once still leaves the good tools', async () => {
    const registry = await scene.registered(
      await listing(
        null,
        tool('first', { description: null, inputSchema: null, outputSchema: 7, 'x-z': {} }),
        { name: ['list'] },
        tool('second', { inputSchema: { properties: { any: true } } }),
        tool('first'),
        tool('third', { inputSchema: 'none' }),
      ),
    );
    expect(registry.names).toEqual(['first', 'second']);
    expect(scene.warnings).toHaveLength(4);
  });
});

describe('R13: a server without tools has none, and that is no error', () => {
  const without: readonly (readonly [string, RawHttpScript])[] = [
    ['lists nothing', { tools: [] }],
    [
      'lists nothing on several pages',
      { tools: ({ cursor }) => ({ tools: [], ...(cursor !== 'z' && { nextCursor: 'z' }) }) },
    ],
    [
      'announces no tools and does not know the method',
      { initialize: { capabilities: {} }, on: { 'tools/list': methodNotFound } },
    ],
    ['announces tools and does not know the method', { on: { 'tools/list': methodNotFound } }],
    [
      'says so with an HTTP error',
      {
        on: {
          'tools/list': (exchange) =>
            exchange.raw(
              400,
              { 'content-type': 'application/json' },
              JSON.stringify({ jsonrpc: '2.0', id: exchange.id, error: { code: -32601, message: 'Method not found' } }),
            ),
        },
      },
    ],
  ];

  it.each(without)('R13: a server that %s', async (_what, script) => {
    const server = await startRawHttp(script);
    const registry = await scene.registered(shop(server.connection));
    expect(registry.names).toEqual([]);
    expect(server.requests.map(({ method }) => method)).toContain('tools/list');
    expect(scene.warnings).toEqual([]);
  });

  it('R13: is asked although it announced no tools, and has them', async () => {
    const server = await startRawHttp({ tools: [tool('search')], initialize: { capabilities: {} } });
    const registry = await scene.registered(shop(server.connection));
    expect(registry.names).toEqual(['search']);
    expect(await registry.execute({ name: 'search' })).toMatchObject({ status: 'success' });
  });

  it('R13: over stdio too', async () => {
    const server = await rawStdio({
      initialize: { capabilities: {} },
      on: { 'tools/list': (exchange) => exchange.error(exchange.id, -32601, 'What is that?') },
    });
    expect((await scene.registered(shop(server.connection))).names).toEqual([]);
  });

  it('R13: a method that is not found for a later page is an error: tools would be lost silently', async () => {
    const server = await startRawHttp({
      tools: ({ cursor }, exchange) =>
        cursor === undefined ? { tools: [tool('a')], nextCursor: 'two' } : void methodNotFound(exchange),
    });
    const error = await rejection(scene.registered(shop(server.connection)));
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ message: expect.stringContaining('-32601') });
  });

  it.each([-32600, -32602, -32603, -32000, 32601])('R13: the error code %d is an error', async (code) => {
    const server = await startRawHttp({ on: { 'tools/list': (exchange) => exchange.error(code, 'Method not found') } });
    expect(await rejection(scene.registered(shop(server.connection)))).toBeInstanceOf(ProviderError);
  });

  it('R13: without a run the session of a server without tools is closed at once', async () => {
    const server = await startRawHttp({ tools: [] });
    const registry = scene.registryWithoutRun();
    await registry.register(shop(server.connection));
    expect(server.deleted).toHaveLength(1);
    await registry.close();
  });

  describe("R13: with the application's own client that enforces capabilities", () => {
    function strict(url: string): ToolsetClass {
      @McpToolset()
      class Strict {
        @CreateClient()
        client(): UnconnectedClient {
          return {
            client: new Client({ name: 'app', version: '1.0.0' }, { enforceStrictCapabilities: true }),
            transport: new StreamableHTTPClientTransport(new URL(url)),
          };
        }
      }
      return Strict;
    }

    it('R13: a server that announced no tools has none', async () => {
      const server = await startRawHttp({ initialize: { capabilities: { prompts: {} } } });
      expect((await scene.registered(strict(server.url))).names).toEqual([]);
      expect(scene.warnings).toEqual([]);
    });

    it('R13: a server that announced tools has them', async () => {
      const server = await startRawHttp({ tools: [tool('search')] });
      const registry = await scene.registered(strict(server.url));
      expect(await registry.execute({ name: 'search', input: { q: 1 } })).toMatchObject({ content: '{"q":1}' });
    });

    it('R13: nor is it an error in memory', async () => {
      const capabilities = {};
      const server = new RawMemory(
        {
          initialize: ({ protocolVersion }) => ({
            result: { protocolVersion, capabilities, serverInfo: { name: 'bare', version: '1.0.0' } },
          }),
        },
        { enforceStrictCapabilities: true },
      );
      const toolset = shop({ command: 'never-started' });
      overrideClient(scene.container, toolset, server);
      expect((await scene.registered(toolset)).names).toEqual([]);
    });
  });
});

function methodNotFound(exchange: { error(code: number, message: string): void }): void {
  exchange.error(-32601, 'Method not found');
}
