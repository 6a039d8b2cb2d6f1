import { Client, type ClientOptions } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import {
  CreateClient,
  MapTool,
  McpToolset,
  ToolRegistry,
  type MapToolContext,
  type McpToolClass,
  type ToolsetClass,
  type UnconnectedClient,
} from 'mcp-toolset';
import { overrideClient } from 'mcp-toolset/testing';
import { closeServersAfterEach, rawStdio, startRawHttp, text, tool, type JsonObject } from '../servers';
import { shop, useCatalogScene } from './catalog-scene';
import { RawMemory } from './raw-memory';

const scene = useCatalogScene();
closeServersAfterEach();

/** Schemas as servers publish them, as JSON: so that also the order of keys and `__proto__` can be told. */
const schemas: Readonly<Record<string, string>> = {
  'references, dereferenced by nobody':
    '{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}}}',
  'a reference to nothing and one to elsewhere':
    '{"properties":{"a":{"$ref":"#/nope"},"b":{"$ref":"https://example.test/s.json"}}}',
  'boolean sub-schemas':
    '{"type":"object","properties":{"any":true,"none":false},"additionalProperties":false,"items":true}',
  'keys that objects inherit':
    '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"const":{"__proto__":null}}},"required":["__proto__"]}',
  'an older dialect':
    '{"$schema":"http://json-schema.org/draft-04/schema#","id":"x","exclusiveMinimum":true,"minimum":1}',
  'keywords that nobody knows':
    '{"x-ui":{"widget":"map"},"type":"object","default":null,"examples":[{}],"$comment":""}',
  'no type': '{"anyOf":[{"required":["a"]},{"required":["b"]}]}',
  'an empty schema': '{}',
  'an odd order of keys': '{"z":1,"a":2,"properties":{"z":{},"a":{}},"type":"object","10":0,"2":0}',
  'lone surrogates': '{"description":"half \\ud83d","properties":{"\\udca5":{}}}',
  'numbers at the edges': '{"minimum":-1.7976931348623157e+308,"maximum":9007199254740993,"multipleOf":5e-324}',
  'what is not a schema': '{"type":"objekt","properties":[1,null],"required":"q","pattern":"("}',
};

/** A server that lists one tool whose definition is this JSON, over HTTP. */
async function listing(schema: string): Promise<ToolsetClass> {
  const server = await startRawHttp({
    on: {
      'tools/list': (exchange) =>
        exchange.raw(
          200,
          { 'content-type': 'application/json' },
          `{"jsonrpc":"2.0","id":${String(exchange.id)},"result":{"tools":[{"name":"search","inputSchema":${schema}}]}}`,
        ),
    },
  });
  return shop(server.connection);
}

/** A toolset whose server is in memory: it sends the very objects that it is given. */
function inMemory(server: RawMemory): ToolsetClass {
  const toolset = shop({ command: 'never-started' });
  overrideClient(scene.container, toolset, server);
  return toolset;
}

function deepFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFrozen);
  return value;
}

describe('R14: the input schema reaches the model unchanged', () => {
  it.each(Object.entries(schemas))('R14: with %s', async (_what, json) => {
    const registry = await scene.registered(await listing(json));
    const [specification] = registry.specifications;
    const sent: unknown = JSON.parse(json);
    expect(specification?.inputSchema).toEqual(sent);
    expect(JSON.stringify(specification?.inputSchema)).toBe(JSON.stringify(sent));
    expect(scene.warnings).toEqual([]);
  });

  it.each(Object.entries(schemas))('R14: nor is it touched by a call, with %s', async (_what, json) => {
    const registry = await scene.registered(await listing(json));
    expect(await registry.execute({ name: 'search', input: { a: 1 } })).toMatchObject({ content: '{"a":1}' });
    expect(JSON.stringify(registry.specifications[0]?.inputSchema)).toBe(JSON.stringify(JSON.parse(json)));
  });

  it('R14: it is the very object that the server sent, wherever it is seen', async () => {
    const inputSchema = { type: 'object', properties: { q: { $ref: '#/$defs/Q' } }, $defs: { Q: { type: 'string' } } };
    const run = scene.run();
    const toolset = inMemory(
      new RawMemory({ 'tools/list': () => ({ result: { tools: [tool('search', { inputSchema })] } }) }),
    );
    const [search] = await scene.discovered(toolset, run);
    const registry = run.resolve(ToolRegistry);
    await registry.register(toolset);

    expect(search?.inputSchema).toBe(inputSchema);
    expect(search?.mcpTool.inputSchema).toBe(inputSchema);
    expect(registry.specifications[0]?.inputSchema).toBe(inputSchema);
    expect(registry.get('search')?.specification.inputSchema).toBe(inputSchema);
  });

  it('R14: a definition that is frozen through and through does, and is not written to', async () => {
    const definitions = Object.values(schemas).map((json, index) =>
      tool(`t ${index}`, { description: '', inputSchema: JSON.parse(json), outputSchema: JSON.parse(json) }),
    );
    const before = JSON.stringify(definitions);
    const server = new RawMemory({
      'tools/list': () => ({ result: deepFrozen({ tools: definitions }) }),
      'tools/call': () => ({ result: deepFrozen(text('done', { structuredContent: { b: 1 } })) }),
    });
    const registry = await scene.registered(inMemory(server));
    expect(registry.names).toHaveLength(definitions.length);
    for (const name of registry.names) await registry.execute({ name, input: deepFrozen({ a: { b: [1] } }) });
    expect(JSON.stringify(definitions)).toBe(before);
  });

  it('R14: a change that @MapTool makes to the class does not reach the definition', async () => {
    const definition = tool('search', { inputSchema: { type: 'object', properties: { q: {} } } });
    const server = await startRawHttp({ tools: [definition] });
    const seen: unknown[] = [];
    @McpToolset({ connection: server.connection })
    class Curated {
      @MapTool()
      map(given: McpToolClass, { mcpTool }: MapToolContext): McpToolClass {
        given.inputSchema = { type: 'object', required: ['q'] };
        given.description = 'Curated.';
        seen.push(mcpTool);
        return given;
      }
    }
    const registry = await scene.registered(Curated);
    expect(registry.specifications).toEqual([
      { name: 'search', description: 'Curated.', inputSchema: { type: 'object', required: ['q'] } },
    ]);
    expect(seen).toEqual([definition]);
  });

  it('R14: the list of specifications and each of them is frozen', async () => {
    const registry = await scene.registered(await listing('{}'));
    const { specifications } = registry;
    expect(Object.isFrozen(specifications)).toBe(true);
    expect(Object.isFrozen(specifications[0])).toBe(true);
    expect(Object.keys(specifications[0] ?? {})).toEqual(['name', 'description', 'inputSchema']);
  });
});

describe('R14: arguments of generated tools are left to the server', () => {
  const strict = {
    type: 'object',
    properties: { q: { type: 'string', minLength: 3 }, n: { type: 'integer', default: 5 } },
    required: ['q'],
    additionalProperties: false,
  };

  it.each<[string, JsonObject]>([
    ['of a wrong type', { q: 7 }],
    ['that are missing', { n: 1 }],
    ['that are too many', { q: 'long', more: true }],
    ['that are null', { q: null }],
    ['without defaults filled in', { q: 'long' }],
    ['with empty keys', { '': '' }],
  ])('R14: arguments %s reach it as they are', async (_what, input) => {
    const server = await startRawHttp({ tools: [tool('search', { inputSchema: strict })] });
    const registry = await scene.registered(shop(server.connection));
    expect(await registry.execute({ name: 'search', input })).toMatchObject({ status: 'success' });
    expect(server.calls.map((call) => call.arguments)).toEqual([input]);
  });

  it('R14: what the server says about them is what the model sees', async () => {
    const server = await startRawHttp({
      tools: [tool('search', { inputSchema: strict })],
      call: (_params, exchange) => exchange.error(-32602, 'q must be a string'),
    });
    const registry = await scene.registered(shop(server.connection));
    expect(await registry.execute({ name: 'search', input: { q: 7 } })).toMatchObject({
      status: 'error',
      content: 'q must be a string',
    });
  });

  it.each([
    ['no input', {}],
    ['undefined', { input: undefined }],
    ['null', { input: null }],
    ['an empty object', { input: {} }],
  ])('R14: a call with %s sends {}', async (_what, input) => {
    const server = await startRawHttp({ tools: [tool('search')] });
    const registry = await scene.registered(shop(server.connection));
    expect(await registry.execute({ name: 'search', ...input })).toMatchObject({ content: '{}' });
    expect((await server.waitFor('tools/call')).body).toContain('"arguments":{}');
  });

  it('R14: so does the execute of a tool, and over stdio', async () => {
    const server = await rawStdio({ tools: [tool('search')] });
    const registry = await scene.registered(shop(server.connection));
    expect(await registry.get('search')?.execute()).toMatchObject({ content: '{}' });
    expect(await registry.get('search')?.execute(null)).toMatchObject({ content: '{}' });
    expect(server.calls.map((call) => call.arguments)).toEqual([{}, {}]);
  });
});

describe('R15: a catalog is a snapshot for its run', () => {
  /** What a registry and its tools look like from outside. */
  const look = (registry: ToolRegistry): unknown => structuredClone([registry.names, registry.specifications]);

  it('R15: a change of the list that is announced during a call changes nothing that was handed out', async () => {
    const server = await startRawHttp({
      initialize: { capabilities: { tools: { listChanged: true } } },
      tools: [tool('old'), tool('kept')],
      call: ({ name }, exchange) => {
        server.script.tools = [
          tool('kept', { description: 'Changed.', inputSchema: { required: ['x'] } }),
          tool('new'),
        ];
        exchange
          .sse()
          .notify('notifications/tools/list_changed')
          .reply(text(`called ${name}`))
          .end();
      },
    });
    const Shop = shop(server.connection);
    const run = scene.run();
    const registry = run.resolve(ToolRegistry);
    await registry.register(Shop);
    const tools = [...registry];
    const before = look(registry);

    expect(await registry.execute({ name: 'kept' })).toMatchObject({ content: 'called kept' });
    expect(await registry.execute({ name: 'old' })).toMatchObject({ content: 'called old' });

    expect(look(registry)).toEqual(before);
    expect([...registry]).toEqual(tools);
    const again = await scene.discovered(Shop, run);
    expect(again.map(({ toolName, description }) => [toolName, description])).toEqual([
      ['old', 'The tool old.'],
      ['kept', 'The tool kept.'],
    ]);
    expect(server.requests.filter(({ method }) => method === 'tools/list')).toHaveLength(1);
  });

  it('R15: the next run sees the new list', async () => {
    const server = await startRawHttp({ tools: [tool('old')] });
    const Shop = shop(server.connection);
    const first = await scene.registered(Shop);
    server.script.tools = [tool('new')];
    const second = await scene.registered(Shop);
    expect(first.names).toEqual(['old']);
    expect(second.names).toEqual(['new']);
  });

  it('R15: over stdio too, with a flood of announcements', async () => {
    const server = await rawStdio({
      data: { tools: [tool('old')] },
      tools: (_params, { data }) => data.tools,
      call: (_params, exchange) => {
        exchange.data.tools = [];
        for (let i = 0; i < 1_000; i += 1) exchange.notify('notifications/tools/list_changed');
        return { content: [{ type: 'text', text: 'called' }] };
      },
    });
    const registry = await scene.registered(shop(server.connection));
    const before = look(registry);
    expect(await registry.execute({ name: 'old' })).toMatchObject({ content: 'called' });
    expect(await registry.execute({ name: 'old' })).toMatchObject({ content: 'called' });
    expect(look(registry)).toEqual(before);
    expect(server.received.filter(({ method }) => method === 'tools/list')).toHaveLength(1);
  });

  it('R15: an announcement between two pages does not start the list again', async () => {
    const server = await startRawHttp({
      tools: ({ cursor }, exchange) => {
        if (cursor !== undefined) return [tool('b')];
        exchange
          .sse()
          .notify('notifications/tools/list_changed')
          .reply({ tools: [tool('a')], nextCursor: 'n' })
          .end();
        return undefined;
      },
    });
    expect((await scene.registered(shop(server.connection))).names).toEqual(['a', 'b']);
    expect(server.requests.filter(({ method }) => method === 'tools/list')).toHaveLength(2);
  });

  /** A toolset with the application's own client, which listens in the way that `prepare` chooses. */
  function listening(url: string, options: ClientOptions, prepare: (client: Client) => void): ToolsetClass {
    @McpToolset()
    class Listening {
      @CreateClient()
      client(): UnconnectedClient {
        const client = new Client({ name: 'app', version: '1.0.0' }, options);
        prepare(client);
        return { client, transport: new StreamableHTTPClientTransport(new URL(url)) };
      }
    }
    return Listening;
  }

  it("R15: the application's own client hears of it through its handler, and the tools stay", async () => {
    const server = await startRawHttp({
      initialize: { capabilities: { tools: { listChanged: true } } },
      tools: [tool('old')],
      on: { GET: (exchange) => void exchange.sse() },
      call: (_params, exchange) => {
        server.script.tools = [tool('new')];
        exchange.sse().notify('notifications/tools/list_changed').reply(text('called')).end();
      },
    });
    let heard = 0;
    const toolset = listening(server.url, {}, (client) =>
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (heard += 1)),
    );
    const registry = await scene.registered(toolset);
    const before = look(registry);
    expect(await registry.execute({ name: 'old' })).toMatchObject({ content: 'called' });
    expect(heard).toBe(1);
    expect(look(registry)).toEqual(before);
    expect(await registry.execute({ name: 'old' })).toMatchObject({ content: 'called' });
  });

  it('R15: so does one that has the SDK fetch the new list', async () => {
    const server = await startRawHttp({
      initialize: { capabilities: { tools: { listChanged: true } } },
      tools: [tool('old')],
      call: (_params, exchange) => {
        server.script.tools = [tool('new')];
        exchange.sse().notify('notifications/tools/list_changed').reply(text('called')).end();
      },
    });
    let tell = (_names: string[]): void => undefined;
    const heard = new Promise<string[]>((resolve) => (tell = resolve));
    const onChanged = (_error: Error | null, tools: { name: string }[] | null): void =>
      tell((tools ?? []).map(({ name }) => name));
    const toolset = listening(server.url, { listChanged: { tools: { onChanged, debounceMs: 0 } } }, () => undefined);
    const run = scene.run();
    const registry = run.resolve(ToolRegistry);
    await registry.register(toolset);
    const before = look(registry);

    expect(await registry.execute({ name: 'old' })).toMatchObject({ content: 'called' });
    expect(await heard).toEqual(['new']);
    expect(look(registry)).toEqual(before);
    expect(await scene.discovered(toolset, run)).toHaveLength(1);
    expect(await registry.execute({ name: 'old' })).toMatchObject({ content: 'called' });
  });

  it('R15: a list that the server changes in memory, after it was sent, is not looked at again', async () => {
    const tools = [tool('old')];
    const server = new RawMemory({
      'tools/list': () => ({ result: { tools } }),
      'tools/call': () => ({ result: text('called') }),
    });
    const toolset = inMemory(server);
    const run = scene.run();
    const registry = run.resolve(ToolRegistry);
    await registry.register(toolset);
    tools.push(tool('new'));
    await server.notify('notifications/tools/list_changed');
    expect(registry.names).toEqual(['old']);
    expect(await scene.discovered(toolset, run)).toHaveLength(1);
    expect(server.received.filter(({ method }) => method === 'tools/list')).toHaveLength(1);
  });
});
