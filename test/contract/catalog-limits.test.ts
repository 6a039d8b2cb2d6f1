import {
  configureMcpToolset,
  ProtocolError,
  ToolRegistry,
  type Limits,
  type LimitOptions,
  type ToolsetClass,
} from 'mcp-toolset';
import { overrideClient } from 'mcp-toolset/testing';
import {
  closeServersAfterEach,
  rawStdio,
  startRawHttp,
  tool,
  type JsonObject,
  type RawHttpServer,
  type HttpExchange,
} from '../servers';
import { rejection, shop, useCatalogScene } from './catalog-scene';
import { factoryToolset, httpClient } from './live-run';
import { RawMemory } from './raw-memory';

const scene = useCatalogScene();
closeServersAfterEach();

/** What a server does where it is asked for a page: the page that it returns, or whatever it does itself. */
type Answer = (exchange: HttpExchange) => unknown;
type CatalogLimit = Extract<keyof Limits, `maxTools` | `maxPages` | `maxSchema${string}` | 'maxCursorBytes'>;

/** A server that lists these pages, one after the other. */
async function pages(...list: readonly (readonly JsonObject[])[]): Promise<RawHttpServer> {
  return startRawHttp({
    tools: ({ cursor }) => {
      const page = cursor === undefined ? 0 : Number(cursor);
      const isLast = page === list.length - 1;
      return { tools: list[page], ...(!isLast && { nextCursor: String(page + 1) }) };
    },
  });
}

function toolsNamed(prefix: string, count: number): JsonObject[] {
  return Array.from({ length: count }, (_, index) => tool(`${prefix}${index}`));
}

/** A schema whose deepest object or array is at this depth. */
function nested(depth: number): JsonObject {
  let schema: JsonObject = {};
  for (let level = 1; level < depth; level += 1) schema = level % 2 === 0 ? { items: schema } : { not: schema };
  return schema;
}

/** A schema of exactly this many objects and arrays: its root, `properties` and the properties. */
function wide(nodes: number): JsonObject {
  return { type: 'object', properties: Object.fromEntries(Array.from({ length: nodes - 2 }, (_, i) => [`p${i}`, {}])) };
}

async function expectWithin(server: RawHttpServer, count: number, limits: LimitOptions = {}): Promise<void> {
  const registry = await scene.registered(shop(server.connection, { limits }));
  expect(registry.names).toHaveLength(count);
  expect(scene.warnings).toEqual([]);
}

/** The list breaks this limit: the error names it and its value, and nothing is left open. */
async function expectOver(server: RawHttpServer, limit: CatalogLimit, limits: LimitOptions = {}): Promise<Error> {
  const error = await rejection(scene.registered(shop(server.connection, { limits })));
  expect(error).toBeInstanceOf(ProtocolError);
  expect(error).toMatchObject({ toolset: 'Shop', message: expect.stringMatching(new RegExp(`\\blimit ${limit}\\b`)) });
  expect(server.sessions).toEqual([]);
  return error as Error;
}

describe('R11: maxTools', () => {
  it('R11: is 1,000 by default: that many pass, one more does not', async () => {
    await expectWithin(await pages(toolsNamed('t', 1_000)), 1_000);
    const error = await expectOver(await pages(toolsNamed('t', 1_001)), 'maxTools');
    expect(error.message).toContain('1000');
  });

  it('R11: is counted over all pages', async () => {
    const limits = { maxTools: 5 };
    await expectWithin(await pages(toolsNamed('a', 2), [], toolsNamed('b', 2)), 4, limits);
    await expectWithin(await pages(toolsNamed('a', 2), toolsNamed('b', 3)), 5, limits);
    await expectOver(await pages(toolsNamed('a', 2), toolsNamed('b', 3), toolsNamed('c', 1)), 'maxTools', limits);
  });

  it('R11: counts entries that are not usable too, so that they cannot flood the log', async () => {
    const server = await pages(
      [tool('a')],
      Array.from({ length: 3 }, () => ({ name: '' })),
    );
    await expectOver(server, 'maxTools', { maxTools: 3 });
    expect(scene.warnings).toEqual([]);
  });

  it('R11: asks for no further page once it is broken', async () => {
    const server = await pages(toolsNamed('a', 2), toolsNamed('b', 2), toolsNamed('c', 2));
    await expectOver(server, 'maxTools', { maxTools: 3 });
    expect(server.requests.filter(({ method }) => method === 'tools/list')).toHaveLength(2);
  });
});

describe('R11: maxPages', () => {
  const onePerPage = (count: number): JsonObject[][] => Array.from({ length: count }, (_, i) => [tool(`t${i}`)]);

  it('R11: is 100 by default: that many pass, one more does not', async () => {
    await expectWithin(await pages(...onePerPage(99)), 99);
    await expectWithin(await pages(...onePerPage(100)), 100);
    const error = await expectOver(await pages(...onePerPage(101)), 'maxPages');
    expect(error.message).toContain('100');
  });

  it('R11: ends a list of empty pages that never ends by itself', async () => {
    let page = 0;
    const server = await startRawHttp({ tools: () => ({ tools: [], nextCursor: `page ${(page += 1)}` }) });
    await expectOver(server, 'maxPages');
    expect(page).toBe(100);
  });

  it('R11: one page is one page', async () => {
    await expectWithin(await pages([tool('a')]), 1, { maxPages: 1 });
    await expectOver(await pages([tool('a')], [tool('b')]), 'maxPages', { maxPages: 1 });
  });
});

describe('R11: maxSchemaDepth', () => {
  it.each(['inputSchema', 'outputSchema'])('R11: is 128 by default for an %s, whose root is depth 1', async (field) => {
    await expectWithin(await pages([tool('a', { [field]: nested(127) })]), 1);
    await expectWithin(await pages([tool('a', { [field]: nested(128) })]), 1);
    const error = await expectOver(await pages([tool('deep', { [field]: nested(129) })]), 'maxSchemaDepth');
    expect(error.message).toContain('"deep"');
    expect(error.message).toContain('128');
  });

  it('R11: of 1 allows a schema without objects and arrays in it', async () => {
    const limits = { maxSchemaDepth: 1 };
    await expectWithin(
      await pages([tool('a', { inputSchema: { type: 'object', additionalProperties: false } })]),
      1,
      limits,
    );
    await expectOver(await pages([tool('a', { inputSchema: { properties: {} } })]), 'maxSchemaDepth', limits);
    await expectOver(await pages([tool('a', { inputSchema: { required: [] } })]), 'maxSchemaDepth', limits);
  });

  it('R11: is broken by a tool of a later page, beside good ones', async () => {
    const server = await pages([tool('a')], [tool('b'), tool('deep', { inputSchema: nested(6) })]);
    const error = await expectOver(server, 'maxSchemaDepth', { maxSchemaDepth: 5 });
    expect(error.message).toContain('"deep"');
  });

  it.each<[string, Answer]>([
    ['is not answered', () => undefined],
    ['is answered by an error', (exchange) => exchange.error(-32603, 'no more')],
    ['is broken', () => ({ tools: 'none' })],
  ])('R11: is broken by a tool of a page, whatever comes of the next, which %s', async (_case, next) => {
    const deep = tool('deep', { inputSchema: nested(6) });
    const server = await startRawHttp({
      tools: ({ cursor }, exchange) =>
        cursor === undefined ? { tools: [tool('a'), deep], nextCursor: 'next' } : next(exchange),
    });
    const error = await expectOver(server, 'maxSchemaDepth', { maxSchemaDepth: 5 });
    expect(error.message).toContain('"deep"');
  });

  it('R11: is broken by a tool of a page, also where the next cannot even be asked for', async () => {
    const deep = tool('deep', { inputSchema: nested(6) });
    const server = await startRawHttp({ tools: () => ({ tools: [deep], nextCursor: 'next' }) });
    const refusing: typeof fetch = async (url, init) => {
      if (typeof init?.body === 'string' && init.body.includes('"cursor"')) throw new Error('no more requests');
      return fetch(url, init);
    };
    const toolset = shop({ ...server.connection, fetch: refusing }, { limits: { maxSchemaDepth: 5 } });
    const error = await rejection(scene.registered(toolset));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(String(error)).toContain('limit maxSchemaDepth');
  });

  it('R11: counts an outputSchema that is no object as well', async () => {
    const server = await pages([tool('a', { outputSchema: [[[[]]]] })]);
    await expectOver(server, 'maxSchemaDepth', { maxSchemaDepth: 3 });
  });
});

describe('R11: maxSchemaNodes', () => {
  it('R11: is 100,000 by default, over the whole catalog', async () => {
    await expectWithin(await pages([tool('a', { inputSchema: wide(99_999) })]), 1);
    await expectWithin(await pages([tool('a', { inputSchema: wide(100_000) })]), 1);
    const error = await expectOver(await pages([tool('a', { inputSchema: wide(100_001) })]), 'maxSchemaNodes');
    expect(error.message).toContain('100000');
  });

  it('R11: is counted over input and output schemas of all pages', async () => {
    const both = (name: string): JsonObject => tool(name, { inputSchema: wide(3), outputSchema: wide(2) });
    const limits = { maxSchemaNodes: 10 };
    await expectWithin(await pages([both('a')], [both('b')]), 2, limits);
    const error = await expectOver(await pages([both('a')], [both('b')], [tool('c')]), 'maxSchemaNodes', limits);
    expect(error.message).toContain('"c"');
  });

  it('R11: counts no numbers, strings or booleans', async () => {
    const inputSchema = { enum: Array.from({ length: 200_000 }, (_, index) => index) };
    await expectWithin(await pages([tool('a', { inputSchema })]), 1, { maxSchemaNodes: 2 });
  });

  it('R11: counts nothing of entries that are left out, nor of other fields', async () => {
    const annotations = wide(50);
    const server = await pages([tool('a', { annotations }), tool('a', { inputSchema: wide(50) })]);
    const registry = await scene.registered(shop(server.connection, { limits: { maxSchemaNodes: 1 } }));
    expect(registry.names).toEqual(['a']);
  });
});

describe('R11: cursors', () => {
  const withCursor = (cursor: string): Promise<RawHttpServer> =>
    startRawHttp({
      tools: (params) => (params.cursor === undefined ? { tools: [tool('a')], nextCursor: cursor } : [tool('b')]),
    });

  it('R11: maxCursorBytes is 16 KiB by default: that many pass, one more does not', async () => {
    await expectWithin(await withCursor('c'.repeat(16 * 1024 - 1)), 2);
    await expectWithin(await withCursor('c'.repeat(16 * 1024)), 2);
    const error = await expectOver(await withCursor('c'.repeat(16 * 1024 + 1)), 'maxCursorBytes');
    expect(error.message).toContain('16384');
    expect(error.message).not.toContain('ccc');
  });

  it('R11: maxCursorBytes counts bytes of UTF-8, not characters', async () => {
    await expectWithin(await withCursor('é'.repeat(5)), 2, { maxCursorBytes: 10 });
    await expectOver(await withCursor('é'.repeat(5) + '.'), 'maxCursorBytes', { maxCursorBytes: 10 });
    await expectOver(await withCursor('💥'.repeat(3)), 'maxCursorBytes', { maxCursorBytes: 10 });
  });

  it.each([
    ['at once', ['x', 'x']],
    ['later', ['x', 'y', 'z', 'x']],
    ['and is empty', ['', '']],
  ])('R11: a cursor that comes again %s is a ProtocolError', async (_when, cursors) => {
    let page = 0;
    const server = await startRawHttp({ tools: () => ({ tools: [tool(`t${page}`)], nextCursor: cursors[page++] }) });
    const error = await rejection(scene.registered(shop(server.connection)));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({ message: expect.stringMatching(/cursor was given before/) });
    expect(page).toBe(cursors.length);
    expect(server.sessions).toEqual([]);
  });

  it('R11: an empty string is a cursor like any other', async () => {
    const server = await startRawHttp({
      tools: ({ cursor }) => (cursor === undefined ? { tools: [tool('a')], nextCursor: '' } : [tool('b')]),
    });
    await expectWithin(server, 2);
    const asked = server.requests.filter(({ method }) => method === 'tools/list').map(({ params }) => params);
    expect(asked.map((params) => 'cursor' in params)).toEqual([false, true]);
    expect(asked[1]).toMatchObject({ cursor: '' });
  });

  it.each(['__proto__', 'constructor', 'undefined', 'null', '0', ' ', '\u0000', '💥', '\ud800'])(
    'R11: the cursor %j goes back as it came, and is no cursor seen before',
    async (cursor) => {
      const server = await withCursor(cursor);
      await expectWithin(server, 2);
      expect(server.requests.filter(({ method }) => method === 'tools/list')[1]?.params).toMatchObject({ cursor });
    },
  );
});

describe('R11: where limits are set', () => {
  const byToolset: readonly (readonly [CatalogLimit, number])[] = [
    ['maxTools', 1],
    ['maxPages', 1],
    ['maxSchemaDepth', 1],
    ['maxSchemaNodes', 2],
    ['maxCursorBytes', 1],
  ];
  const modest = (): Promise<RawHttpServer> =>
    startRawHttp({
      tools: ({ cursor }) =>
        cursor === undefined ? { tools: [tool('a', { inputSchema: nested(2) })], nextCursor: '##' } : [tool('b')],
    });

  it.each(byToolset)('R11: %s is set for a container and its children', async (limit, value) => {
    configureMcpToolset(scene.container, { limits: { [limit]: value } });
    await expectOver(await modest(), limit);
  });

  it.each(byToolset)('R11: %s of a toolset replaces that of its container', async (limit, value) => {
    configureMcpToolset(scene.container, { limits: { [limit]: value } });
    await expectWithin(await modest(), 2, { [limit]: 10 });
    configureMcpToolset(scene.container, { limits: { [limit]: 10 } });
    await expectOver(await modest(), limit, { [limit]: value });
  });

  it('R11: a limit of a toolset leaves the others to its container', async () => {
    configureMcpToolset(scene.container, { limits: { maxTools: 1 } });
    await expectOver(await modest(), 'maxTools', { maxPages: 50 });
  });

  it('R11: a limit can be raised', async () => {
    const server = await pages([tool('a', { inputSchema: nested(900) })], toolsNamed('t', 1_500));
    await expectWithin(server, 1_501, { maxTools: 2_000, maxSchemaDepth: 900 });
  });
});

/** How deep a definition can come through a transport of the library's own, which reads nothing of more than 1,000 levels. */
const OWN_DEPTH = 990;
/** How deep it can come otherwise: serialising such a value overflows. */
const DEPTH = 200_000;
const FLOOD = 300_000;

/** A definition, as JSON, whose schema, or another field, is nested `depth` levels deep. */
function deepDefinition(depth: number, field: string, unit: readonly [string, string]): string {
  const value = unit[0].repeat(depth) + '1' + unit[1].repeat(depth);
  return `{"name":"deep","inputSchema":{"type":"object"},"${field}":${value}}`.replace(
    field === 'inputSchema' ? '"inputSchema":{"type":"object"},' : '\n',
    '',
  );
}

const OBJECTS = ['{"a":', '}'] as const;
const ARRAYS = ['[', ']'] as const;

/** A server over HTTP that lists a definition as it is. */
function listing(definition: string): Promise<RawHttpServer> {
  return startRawHttp({
    on: {
      'tools/list': (exchange) =>
        exchange.raw(
          200,
          { 'content-type': 'application/json' },
          `{"jsonrpc":"2.0","id":${String(exchange.id)},"result":{"tools":[${definition}]}}`,
        ),
    },
  });
}

/** What a server of one tool in memory, over HTTP or over stdio is, that sends its definition as it is. */
const ways: Readonly<Record<string, (definition: string) => Promise<ToolsetClass>>> = {
  HTTP: async (definition) => shop((await listing(definition)).connection),
  'a client of the application': async (definition) => {
    const { url } = await listing(definition);
    return factoryToolset(() => httpClient(url), { name: 'Shop' });
  },
  'an event stream': async (definition) => {
    const server = await startRawHttp({
      on: {
        'tools/list': (exchange) =>
          exchange
            .sse()
            .event(`{"jsonrpc":"2.0","id":${String(exchange.id)},"result":{"tools":[${definition}]}}`)
            .end(),
      },
    });
    return shop(server.connection);
  },
  stdio: async (definition) => {
    const server = await rawStdio({
      data: { definition },
      on: {
        'tools/list': (exchange) =>
          exchange.write(
            `{"jsonrpc":"2.0","id":${String(exchange.id)},"result":{"tools":[${exchange.data.definition}]}}\n`,
          ),
      },
    });
    return shop(server.connection);
  },
  memory: async (definition) => {
    const server = new RawMemory({ 'tools/list': () => ({ result: { tools: JSON.parse(`[${definition}]`) } }) });
    const toolset = shop({ command: 'never-started' });
    overrideClient(scene.container, toolset, server);
    return toolset;
  },
};

describe.each(Object.entries(ways))('R11: hostile schemas over %s', (way, toolsetOf) => {
  const depth = ['memory', 'a client of the application'].includes(way) ? DEPTH : OWN_DEPTH;

  it.each([
    ['an inputSchema of objects', 'inputSchema', OBJECTS],
    ['an outputSchema of objects', 'outputSchema', OBJECTS],
    ['an outputSchema of arrays', 'outputSchema', ARRAYS],
  ])('R11: %s that is nested as deep as it can come is a ProtocolError', async (_what, field, unit) => {
    const error = await rejection(scene.registered(await toolsetOf(deepDefinition(depth, field, unit))));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({ message: expect.stringMatching(/"deep".*limit maxSchemaDepth/) });
  });

  it('R11: nesting in fields that nobody reads does no harm', async () => {
    const registry = await scene.registered(await toolsetOf(deepDefinition(depth, 'annotations', OBJECTS)));
    expect(registry.names).toEqual(['deep']);
  });

  it('R11: a deep inputSchema that is no object is left out like any other', async () => {
    const list = `${deepDefinition(depth, 'inputSchema', ARRAYS)},{"name":"good"}`;
    const registry = await scene.registered(await toolsetOf(list));
    expect(registry.names).toEqual(['good']);
    expect(scene.warnings).toEqual([expect.stringContaining('"deep"')]);
  });

  it('R11: a deep description or name is not usable text', async () => {
    const deep = '['.repeat(depth) + ']'.repeat(depth);
    const list = `{"name":${deep}},{"name":"good","description":${deep}}`;
    const registry = await scene.registered(await toolsetOf(list));
    expect(registry.specifications).toMatchObject([{ name: 'good', description: expect.stringContaining('Shop') }]);
    expect(scene.warnings).toEqual([expect.stringContaining('entry 1')]);
  });

  it.each([
    ['of objects', `{"anyOf":[${'{},'.repeat(FLOOD)}{}]}`],
    ['of arrays', `{"anyOf":[${'[],'.repeat(FLOOD)}[]]}`],
    ['of properties', `{"properties":{${Array.from({ length: FLOOD }, (_, i) => `"p${i}":{}`).join()}}}`],
  ])('R11: a flood %s is a ProtocolError', async (_what, schema) => {
    const error = await rejection(scene.registered(await toolsetOf(`{"name":"wide","inputSchema":${schema}}`)));
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({ message: expect.stringMatching(/"wide".*limit maxSchemaNodes/) });
  });
});

describe('R11: what only a server in memory can send', () => {
  async function listed(inputSchema: object): Promise<unknown> {
    const toolset = shop({ command: 'never-started' });
    const server = new RawMemory({ 'tools/list': () => ({ result: { tools: [{ name: 'odd', inputSchema }] } }) });
    overrideClient(scene.container, toolset, server);
    return rejection(scene.registered(toolset));
  }

  it('R11: a schema that contains itself is too deep', async () => {
    const circular: JsonObject = {};
    circular.self = circular;
    expect(await listed(circular)).toMatchObject({ message: expect.stringContaining('limit maxSchemaDepth') });
  });

  it('R11: a small schema that unfolds into billions of nodes has too many', async () => {
    let bomb: unknown[] = [];
    for (let level = 0; level < 5; level += 1) bomb = Array.from({ length: 90_000 }, () => bomb);
    expect(await listed({ bomb })).toMatchObject({ message: expect.stringContaining('limit maxSchemaNodes') });
  });
});

it('R11: after a broken limit the toolset can be registered again', async () => {
  const server = await startRawHttp({ tools: toolsNamed('t', 3) });
  const registry = scene.run().resolve(ToolRegistry);
  const Shop = shop(server.connection, { limits: { maxTools: 2 } });
  expect(await rejection(registry.register(Shop))).toBeInstanceOf(ProtocolError);
  server.script.tools = toolsNamed('t', 2);
  await registry.register(Shop);
  expect(registry.names).toEqual(['t0', 't1']);
  expect(server.sessions).toHaveLength(1);
});
