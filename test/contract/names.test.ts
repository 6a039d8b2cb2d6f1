import { createHash } from 'node:crypto';
import {
  ConfigurationError,
  MapTool,
  McpToolset,
  SessionRegistry,
  Tool,
  ToolRegistry,
  ToolsetDiscovery,
  type MapToolContext,
  type McpToolClass,
  type ToolClass,
  type ToolEntry,
  type ToolsetClass,
  type ToolSelection,
} from 'mcp-toolset';
import { createTestServer, overrideClient } from 'mcp-toolset/testing';
import { closeServersAfterEach, rawStdio, startRawHttp, text, tool, waitForNoChildren } from '../servers';
import { rejection, shop, useCatalogScene } from './catalog-scene';

const scene = useCatalogScene();
closeServersAfterEach();

const sha12 = (value: string): string => createHash('sha256').update(value, 'utf8').digest('hex').slice(0, 12);

/** The names by which a model sees tools with these wire names, by wire name. */
async function namesOf(wireNames: readonly string[], tools: ToolSelection = {}): Promise<Record<string, string>> {
  const server = await startRawHttp({ tools: wireNames.map((name) => tool(name)) });
  const classes = await scene.discovered(shop(server.connection, { tools }));
  return Object.fromEntries(classes.map(({ toolName, mcpTool }) => [mcpTool.name, toolName]));
}

/** The name by which a model sees the only tool of a server. */
async function nameOf(wireName: string, tools: ToolSelection = {}): Promise<string | undefined> {
  return (await namesOf([wireName], tools))[wireName];
}

describe('R16: one name', () => {
  it.each([
    ['search', 'search'],
    ['Search-2_x', 'Search-2_x'],
    ['-', `tool_${sha12('-')}`],
    ['0', '0'],
    ['_a', '_a'],
    ['get user', 'get_user'],
    ['files/read.text', 'files_read_text'],
    [' padded ', '_padded_'],
    ['a\tb\nc\u0000d', 'a_b_c_d'],
    ['größe', 'gr__e'],
    ['x💥y', 'x_y'],
    ['x👩‍👩‍👧y', 'x_____y'],
    ['a𝒳b', 'a_b'],
    ['e\u0301t', 'e_t'],
    ['a\ud800b', 'a_b'],
    ['ａｂ1', '__1'],
    ['"quoted"', '_quoted_'],
    ['a_', 'a_'],
  ])('R16: %j becomes %s', async (wireName, expected) => {
    expect(await nameOf(wireName)).toBe(expected);
    expect(scene.warnings).toEqual([]);
  });

  it.each(['_', '___', '-_-', '💥', '名前', ' ', '.', '\u0000', '\u200b', '_'.repeat(200)])(
    'R16: %j, of which no letter or digit is left, becomes tool_ and a hash of it',
    async (wireName) => {
      expect(await nameOf(wireName)).toBe(`tool_${sha12(wireName)}`);
    },
  );

  it('R16: 64 characters are enough, 65 are shortened to 51, _ and a hash of all of them', async () => {
    expect(await nameOf('a'.repeat(63))).toBe('a'.repeat(63));
    expect(await nameOf('a'.repeat(64))).toBe('a'.repeat(64));
    const shortened = await nameOf('a'.repeat(65));
    expect(shortened).toBe(`${'a'.repeat(51)}_${sha12('a'.repeat(65))}`);
    expect(shortened).toHaveLength(64);
  });

  it('R16: the hash of a shortened name is that of the normalised name, not of the wire name', async () => {
    const wireName = 'a b'.repeat(30);
    const normalised = 'a_b'.repeat(30);
    expect(await nameOf(wireName)).toBe(`${normalised.slice(0, 51)}_${sha12(normalised)}`);
  });

  it('R16: a code point counts once, also for the length', async () => {
    expect(await nameOf('x' + '💥'.repeat(63))).toBe('x' + '_'.repeat(63));
    const normalised = 'x' + '_'.repeat(64);
    expect(await nameOf('x' + '💥'.repeat(64))).toBe(`${normalised.slice(0, 51)}_${sha12(normalised)}`);
  });

  it('R16: a name of a million characters is shortened like any other', async () => {
    const name = 'n'.repeat(1_000_000);
    expect(await nameOf(name)).toBe(`${'n'.repeat(51)}_${sha12(name)}`);
  });

  it('R16: what goes over the wire is always the name of the server', async () => {
    const wireNames = ['get user', '💥', 'a'.repeat(100), 'getUser', '__proto__', 'a\ud800b'];
    const server = await startRawHttp({ tools: wireNames.map((name) => tool(name)), call: ({ name }) => text(name) });
    const registry = await scene.registered(shop(server.connection, { tools: { prefix: 'p-' } }));
    for (const name of registry.names) expect(await registry.execute({ name })).toMatchObject({ status: 'success' });
    expect(server.calls.map(({ name }) => name)).toEqual(wireNames);
    expect(registry.get('get user')).toBeUndefined();
  });
});

describe('R16: a prefix', () => {
  it('R16: comes after the normalising', async () => {
    expect(await nameOf('get user', { prefix: 'crm_' })).toBe('crm_get_user');
    expect(await nameOf('💥', { prefix: 'crm_' })).toBe(`crm_tool_${sha12('💥')}`);
    expect(await nameOf('_', { prefix: '_' })).toBe(`_tool_${sha12('_')}`);
    expect(await nameOf('a', { prefix: '' })).toBe('a');
  });

  it('R16: counts for the length, and for the hash of the whole name as it would have been', async () => {
    const rest = 'r'.repeat(60);
    expect(await nameOf(rest, { prefix: 'pre_' })).toBe(`pre_${rest}`);
    const whole = `pre-_${rest}`;
    expect(await nameOf(rest, { prefix: 'pre-_' })).toBe(`${whole.slice(0, 51)}_${sha12(whole)}`);
  });

  it('R16: that is too long by itself still gives different names', async () => {
    const prefix = 'p'.repeat(70);
    expect(await namesOf(['a', 'b'], { prefix })).toEqual({
      a: `${'p'.repeat(51)}_${sha12(`${prefix}a`)}`,
      b: `${'p'.repeat(51)}_${sha12(`${prefix}b`)}`,
    });
  });

  it('R16: comes after the hash that tells names apart', async () => {
    expect(await namesOf(['a b', 'a_b'], { prefix: 'x_' })).toEqual({
      'a b': `x_a_b_${sha12('a b')}`,
      a_b: 'x_a_b',
    });
  });
});

describe('R16: names of one catalog that normalise alike', () => {
  it('R16: one that needed no change keeps its name, every other gets a hash of its wire name', async () => {
    expect(await namesOf(['get user', 'get_user', 'get.user', 'other'])).toEqual({
      'get user': `get_user_${sha12('get user')}`,
      get_user: 'get_user',
      'get.user': `get_user_${sha12('get.user')}`,
      other: 'other',
    });
  });

  it('R16: where none was unchanged, each gets its hash', async () => {
    expect(await namesOf(['a.b', 'a b'])).toEqual({ 'a.b': `a_b_${sha12('a.b')}`, 'a b': `a_b_${sha12('a b')}` });
  });

  it('R16: upper and lower case are different', async () => {
    expect(await namesOf(['search', 'Search'])).toEqual({ search: 'search', Search: 'Search' });
  });

  it('R16: the length rule comes last, its hash is of the name with the hash', async () => {
    const long = 'l'.repeat(60);
    const [dot, blank] = [`${long}.`, `${long} `];
    const whole = (wireName: string): string => `${long}__${sha12(wireName)}`;
    expect(await namesOf([dot, blank])).toEqual({
      [dot]: `${whole(dot).slice(0, 51)}_${sha12(whole(dot))}`,
      [blank]: `${whole(blank).slice(0, 51)}_${sha12(whole(blank))}`,
    });
  });

  it('R16: long names that begin alike are told apart by their hashes', async () => {
    const names = await namesOf(['c'.repeat(100), 'c'.repeat(101), 'c'.repeat(51)]);
    expect(new Set(Object.values(names)).size).toBe(3);
  });

  it('R16: a tool of a toolset that is not included still keeps its place among the names', async () => {
    expect(await namesOf(['a b', 'a_b'], { include: ['a b'] })).toEqual({ 'a b': `a_b_${sha12('a b')}` });
  });

  it('R16: a collision over two pages is one too', async () => {
    const server = await startRawHttp({
      tools: ({ cursor }) => (cursor === undefined ? { tools: [tool('a b')], nextCursor: 'n' } : [tool('a_b')]),
    });
    expect((await scene.registered(shop(server.connection))).names).toEqual([`a_b_${sha12('a b')}`, 'a_b']);
  });
});

/** Catalogs whose names were made to collide with what the names of others become. */
const hostile: readonly { what: string; wireNames: readonly string[]; tools?: ToolSelection }[] = [
  { what: 'the hashed form of another', wireNames: ['a b', 'a.b', `a_b_${sha12('a b')}`] },
  { what: 'the hashed form of another, to be changed itself', wireNames: ['a b', 'a.b', `a.b.${sha12('a b')}`] },
  {
    what: 'both hashed forms and more',
    wireNames: ['a b', 'a.b', `a_b_${sha12('a b')}`, `a_b_${sha12('a.b')}`, `a b_${sha12('a b')}`],
  },
  { what: 'the form of a name without letters', wireNames: ['💥', `tool_${sha12('💥')}`, `tool ${sha12('💥')}`] },
  { what: 'the shortened form of another', wireNames: ['s'.repeat(80), `${'s'.repeat(51)}_${sha12('s'.repeat(80))}`] },
  {
    what: 'the shortened form, with a prefix',
    wireNames: ['s'.repeat(80), `${'s'.repeat(49)}_${sha12('p_' + 's'.repeat(80))}`],
    tools: { prefix: 'p_' },
  },
  {
    what: 'the form after the form',
    wireNames: [
      'a b',
      'a.b',
      `a_b_${sha12('a b')}`,
      `a_b_${sha12('a b')}_${sha12(`a_b_${sha12('a b')}`)}`,
      `a.b_${sha12('a b')}_${sha12(`a_b_${sha12('a b')}`)}`,
    ],
  },
  { what: 'names that have one hash, because both are ill-formed', wireNames: ['a\ud800', 'a\ud801', 'a\udfff'] },
  {
    what: 'a hundred ways to write one name',
    wireNames: Array.from({ length: 100 }, (_, i) => `x${String.fromCodePoint(0x1f300 + i)}y`),
  },
];

describe.each(hostile)('R16: a server that publishes $what', ({ wireNames, tools }) => {
  it('R16: cannot stop a run: every name is usable and all are different', async () => {
    const names = await namesOf(wireNames, tools);
    expect(Object.keys(names).sort()).toEqual([...wireNames].sort());
    expect(new Set(Object.values(names)).size).toBe(wireNames.length);
    for (const name of Object.values(names)) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  it('R16: leaves a name that needed no change as it is', async () => {
    const prefix = tools?.prefix ?? '';
    const names = await namesOf(wireNames, tools);
    for (const wireName of wireNames) {
      const isFine = /^[a-zA-Z0-9_-]*$/.test(wireName) && `${prefix}${wireName}`.length <= 64;
      if (isFine) expect(names[wireName]).toBe(prefix + wireName);
    }
  });

  it('R16: gives the same names in every run, whatever the order of its list', async () => {
    const names = await namesOf(wireNames, tools);
    expect(await namesOf(wireNames, tools)).toEqual(names);
    expect(await namesOf([...wireNames].reverse(), tools)).toEqual(names);
    const [first = '', ...others] = wireNames;
    expect(await namesOf([...others, first], tools)).toEqual(names);
  });
});

describe('R16: names that the application sets are not repaired', () => {
  const wrong: readonly unknown[] = ['get user', '', 'a.b', 'ä', '💥', 'x'.repeat(65), ' a', undefined, null, 7];

  it.each(wrong)('R16: @MapTool that names a tool %j is a ConfigurationError', async (name) => {
    const server = await startRawHttp({ tools: [tool('search it')] });
    @McpToolset({ connection: server.connection })
    class Mapped {
      @MapTool()
      map(given: McpToolClass): McpToolClass {
        given.toolName = name as string;
        return given;
      }
    }
    const error = await rejection(scene.registered(Mapped));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ message: expect.stringMatching(/Mapped.*"search it".*map/) });
    expect(server.sessions).toEqual([]);
  });

  it.each(wrong)('R16: nor is a local tool that is named %j', async (name) => {
    class Local extends Tool {
      static override toolName = name as string;
      static override description = 'Local.';
      static override inputSchema = {};

      override call(): string {
        return 'x';
      }
    }
    expect(await rejection(scene.registered(Local))).toBeInstanceOf(ConfigurationError);
  });

  it('R16: a name of 64 characters of the alphabet is taken as it is, also one without letters', async () => {
    const server = await startRawHttp({ tools: [tool('a'), tool('b')] });
    const names: Record<string, string> = { a: 'x'.repeat(64), b: '_' };
    @McpToolset({ connection: server.connection, tools: { prefix: 'unused_' } })
    class Mapped {
      @MapTool()
      map(given: McpToolClass, { mcpTool }: MapToolContext): McpToolClass {
        given.toolName = names[mcpTool.name] ?? '';
        return given;
      }
    }
    expect((await scene.registered(Mapped)).names).toEqual(['x'.repeat(64), '_']);
  });
});

describe('R16: tools that are selected by their wire names', () => {
  const list = ['read file', 'write file', '__proto__', 'search'];

  it.each<[string, ToolSelection, string[]]>([
    ['include', { include: ['search', 'read file'] }, ['read file', 'search']],
    ['exclude', { exclude: ['write file', '__proto__'] }, ['read file', 'search']],
    ['both', { include: ['search', 'read file'], exclude: ['search'] }, ['read file']],
    ['an include that is empty', { include: [] }, []],
    ['an exclude that is empty', { exclude: [] }, list],
  ])('R16: %s', async (_what, tools, expected) => {
    expect(Object.keys(await namesOf(list, tools)).sort()).toEqual([...expected].sort());
    expect(scene.warnings).toEqual([]);
  });

  it('R16: names that a model sees select nothing, and each unlisted name is a warning', async () => {
    const names = await namesOf(list, {
      include: ['read_file', 'search', 'constructor'],
      exclude: ['p_search', 'gone'],
      prefix: 'p_',
    });
    expect(names).toEqual({ search: 'p_search' });
    expect(scene.warnings).toEqual([
      expect.stringMatching(/^Toolset Shop: option "tools.include" names "read_file"/),
      expect.stringMatching(/^Toolset Shop: option "tools.include" names "constructor"/),
      expect.stringMatching(/^Toolset Shop: option "tools.exclude" names "p_search"/),
      expect.stringMatching(/^Toolset Shop: option "tools.exclude" names "gone"/),
    ]);
  });

  it('R16: @MapTool sees only what is selected, with prefix', async () => {
    const server = await startRawHttp({ tools: list.map((name) => tool(name)) });
    const seen: string[] = [];
    @McpToolset({ connection: server.connection, tools: { exclude: ['__proto__', 'search'], prefix: 'fs_' } })
    class Files {
      @MapTool()
      map(given: McpToolClass): McpToolClass {
        seen.push(given.toolName);
        return given;
      }
    }
    await scene.registered(Files);
    expect(seen).toEqual(['fs_read_file', 'fs_write_file']);
  });
});

/** A toolset that gives its tools the names that are told, by wire name. */
function renaming(connection: { url: string }, names: Readonly<Record<string, string>>): ToolsetClass {
  @McpToolset({ connection })
  class Renaming {
    @MapTool()
    map(given: McpToolClass, { mcpTool }: MapToolContext): McpToolClass {
      given.toolName = names[mcpTool.name] ?? given.toolName;
      return given;
    }
  }
  return Renaming;
}

function local(name: string): ToolClass {
  return Object.defineProperty(
    Tool.define({ name, description: 'Local.', inputSchema: {}, call: () => 'local' }),
    'name',
    {
      value: `Local_${name}`,
    },
  );
}

describe('R17: two tools that the application gave one name', () => {
  it.each([
    ['that it chose for both', { 'wire a': 'same', 'wire b': 'same' }],
    ['that another has already', { 'wire a': 'wire_b' }],
  ])('R17: by @MapTool in one catalog, %s', async (_what, names) => {
    const server = await startRawHttp({ tools: [tool('wire a'), tool('wire b'), tool('other')] });
    const registry = scene.run().resolve(ToolRegistry);
    const error = await rejection(registry.register(renaming(server.connection, names)));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ message: expect.stringMatching(/Renaming.*"wire a".*"wire b"/) });
    expect(registry.names).toEqual([]);
    expect(server.sessions).toEqual([]);
    expect(server.deleted).toHaveLength(1);
  });

  it('R17: across two toolsets', async () => {
    const [first, second] = [
      await startRawHttp({ tools: [tool('find it'), tool('a')] }),
      await startRawHttp({ tools: [tool('find.it')] }),
    ];
    const registry = scene.run().resolve(ToolRegistry);
    const error = await rejection(
      registry.register(shop(first.connection), shop(second.connection, { name: 'Library' })),
    );
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({
      message: expect.stringMatching(/"find_it".*tool "find it" of toolset Shop.*tool "find.it" of toolset Library/),
    });
    expect(registry.names).toEqual([]);
    expect([...registry]).toEqual([]);
    for (const server of [first, second]) {
      expect(server.sessions).toEqual([]);
      expect(server.deleted).toHaveLength(1);
    }
    expect(scene.container.resolve(SessionRegistry).size).toBe(0);
  });

  it.each([
    [
      'a toolset and a local tool',
      (Shop: ToolsetClass) => [Shop, local('search')],
      /"search" of toolset Shop.*Local_search/,
    ],
    [
      'a local tool and a toolset',
      (Shop: ToolsetClass) => [local('search'), Shop],
      /Local_search.*"search" of toolset Shop/,
    ],
    [
      'a toolset and itself',
      (Shop: ToolsetClass) => [Shop, Shop],
      /"search" of toolset Shop.*"search" of toolset Shop/,
    ],
    [
      'a toolset and a provider of it',
      (Shop: ToolsetClass) => [Shop, { tools: () => [[Shop]] }],
      /of toolset Shop.*of toolset Shop/,
    ],
    ['two local tools', (Shop: ToolsetClass) => [local('twice'), Shop, local('twice')], /Local_twice.*Local_twice/],
  ] as const)('R17: %s', async (_what, entries, message) => {
    const server = await startRawHttp({ tools: [tool('search'), tool('other')] });
    const Shop = shop(server.connection);
    const registry = scene.run().resolve(ToolRegistry);
    const error = await rejection(registry.register(...entries(Shop)));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ message: expect.stringMatching(message) });
    expect(registry.names).toEqual([]);
    expect(server.sessions).toEqual([]);

    await registry.register(Shop);
    expect(registry.names).toEqual(['search', 'other']);
    expect(await registry.execute({ name: 'search', input: { q: 1 } })).toMatchObject({ content: '{"q":1}' });
    expect(server.sessions).toHaveLength(1);
  });

  it('R17: with a tool of an earlier call, which goes on working', async () => {
    const [first, second] = [
      await startRawHttp({ tools: [tool('search')] }),
      await startRawHttp({ tools: [tool('search')] }),
    ];
    const registry = await scene.registered(shop(first.connection));
    const error = await rejection(registry.register(local('fresh'), shop(second.connection, { name: 'Library' })));
    expect(error).toMatchObject({ message: expect.stringMatching(/of toolset Shop.*of toolset Library/) });
    expect(registry.names).toEqual(['search']);
    expect(second.sessions).toEqual([]);
    expect(await registry.execute({ name: 'search' })).toMatchObject({ status: 'success' });
    expect(first.calls).toHaveLength(1);
  });

  it('R17: a toolset that is registered again in the run does not lose its session', async () => {
    const server = await startRawHttp({ tools: [tool('search')] });
    const Shop = shop(server.connection);
    const registry = await scene.registered(Shop);
    expect(await rejection(registry.register(Shop))).toBeInstanceOf(ConfigurationError);
    expect(server.sessions).toHaveLength(1);
    expect(await registry.execute({ name: 'search' })).toMatchObject({ status: 'success' });
  });

  it.each<[string, (connection: { url: string }) => ToolEntry]>([
    ['a toolset', (connection) => shop(connection)],
    ['a toolset with @MapTool', (connection) => renaming(connection, {})],
    ['a local tool', () => local('search')],
  ])('R17: %s that is registered twice is to be registered once', async (_what, entryFor) => {
    const server = await startRawHttp({ tools: [tool('search')] });
    const entry = entryFor(server.connection);
    const registry = scene.run().resolve(ToolRegistry);
    const twice = /(toolset Shop|toolset Renaming|Local_search)\. They are one and the same.*: register it once; /;
    expect(await rejection(registry.register(entry, entry))).toMatchObject({ message: expect.stringMatching(twice) });
    await registry.register(entry);
    expect(await rejection(registry.register(entry))).toMatchObject({ message: expect.stringMatching(twice) });
  });

  it('R17: two toolsets that are called alike are not taken for one', async () => {
    const server = await startRawHttp({ tools: [tool('search')] });
    const registry = await scene.registered(shop(server.connection));
    const error = await rejection(registry.register(shop(server.connection)));
    expect(error).toMatchObject({ message: expect.stringMatching(/of toolset Shop\. Rename one.*, or leave one out/) });
  });

  it('R17: over stdio the child ends', async () => {
    const server = await rawStdio({ tools: [tool('search')] });
    const registry = scene.run().resolve(ToolRegistry);
    expect(await rejection(registry.register(shop(server.connection), local('search')))).toBeInstanceOf(
      ConfigurationError,
    );
    await waitForNoChildren();
  });

  it('R17: without a run too', async () => {
    const server = await startRawHttp({ tools: [tool('search')] });
    const registry = scene.registryWithoutRun();
    const Shop = shop(server.connection);
    expect(await rejection(registry.register(Shop, local('search')))).toBeInstanceOf(ConfigurationError);
    expect(server.sessions).toEqual([]);
    await registry.register(Shop);
    expect(registry.names).toEqual(['search']);
    await registry.close();
    expect(server.sessions).toEqual([]);
  });

  it('R17: a prefix settles it', async () => {
    const [first, second] = [
      await startRawHttp({ tools: [tool('search')] }),
      await startRawHttp({ tools: [tool('search')] }),
    ];
    const registry = await scene.registered(
      shop(first.connection),
      shop(second.connection, { tools: { prefix: 'lib_' } }),
    );
    expect(registry.names).toEqual(['search', 'lib_search']);
  });
});

describe('R17: whatever fails, nothing is registered partially', () => {
  it.each([
    ['a toolset that cannot be reached', () => shop({ command: 'there-is-no-such-executable' })],
    ['an entry that is none', () => class NoTool {}],
    ['a local tool that cannot be made', () => Unmakeable],
  ])('R17: %s', async (_what, broken) => {
    const server = await startRawHttp({ tools: [tool('search')] });
    const Shop = shop(server.connection);
    const registry = scene.run().resolve(ToolRegistry);
    await rejection(registry.register(local('mine'), Shop, broken()));
    expect(registry.names).toEqual([]);
    expect(server.sessions).toEqual([]);

    await registry.register(local('mine'), Shop);
    expect(registry.names).toEqual(['mine', 'search']);
    expect(await registry.execute({ name: 'search' })).toMatchObject({ status: 'success' });
  });

  it('R17: classes that were discovered before the call are not closed by its failure', async () => {
    const server = await startRawHttp({ tools: [tool('search')] });
    const run = scene.run();
    const registry = run.resolve(ToolRegistry);
    const classes = await scene.discovered(shop(server.connection), run);
    await rejection(registry.register(...classes, local('search')));
    expect(registry.names).toEqual([]);

    await registry.register(...classes);
    expect(await registry.execute({ name: 'search' })).toMatchObject({ status: 'success' });
  });

  it('R17: the failure of one call does not close what a call beside it registers', async () => {
    const server = await startRawHttp({ tools: [tool('search')] });
    const Shop = shop(server.connection);
    const registry = scene.run().resolve(ToolRegistry);
    const failing = rejection(registry.register(Shop, local('search')));
    await registry.register(Shop);
    expect(await failing).toBeInstanceOf(ConfigurationError);
    expect(registry.names).toEqual(['search']);
    expect(await registry.execute({ name: 'search' })).toMatchObject({ status: 'success' });
  });

  class Unmakeable extends Tool {
    static override readonly toolName = 'unmakeable';
    static override readonly description = 'Its constructor throws.';
    static override readonly inputSchema = {};
    constructor() {
      super();
      throw new Error('no database');
    }
    call(): void {}
  }
});

/** Names that objects have anyway. */
const inherited = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf', '__defineGetter__'];

describe('R18: names like __proto__ are ordinary names', () => {
  it('R18: as wire names, with a prefix and without', async () => {
    expect(Object.entries(await namesOf(inherited))).toEqual(
      expect.arrayContaining(inherited.map((name) => [name, name])),
    );
    const server = await startRawHttp({
      tools: inherited.map((name) => tool(name)),
      call: ({ name }) => text(`I am ${name}`),
    });
    const registry = await scene.registered(shop(server.connection));
    expect(registry.names).toEqual(inherited);
    expect(registry.specifications.map(({ name }) => name)).toEqual(inherited);
    for (const name of inherited) {
      expect(registry.has(name)).toBe(true);
      expect(registry.get(name)?.specification.name).toBe(name);
      expect(await registry.execute({ name })).toMatchObject({ status: 'success', value: `I am ${name}` });
    }
    expect(server.calls.map(({ name }) => name)).toEqual(inherited);
  });

  it.each(inherited)('R18: %s is no tool of an empty registry', async (name) => {
    const registry = await scene.registered();
    expect(registry.has(name)).toBe(false);
    expect(registry.get(name)).toBeUndefined();
    expect(await registry.execute({ name })).toMatchObject({ status: 'error', content: `Unknown tool: ${name}` });
  });

  it('R18: as names that are included, excluded, repeated or not listed', async () => {
    const server = await startRawHttp({ tools: [...inherited, '__proto__'].map((name) => tool(name)) });
    const tools = {
      include: ['__proto__', 'constructor', 'propertyIsEnumerable'],
      exclude: ['constructor', 'isPrototypeOf'],
    };
    expect((await scene.registered(shop(server.connection, { tools }))).names).toEqual(['__proto__']);
    expect(scene.warnings).toEqual([
      expect.stringContaining('"__proto__"'),
      expect.stringContaining('"propertyIsEnumerable"'),
      expect.stringContaining('"isPrototypeOf"'),
    ]);
  });

  it('R18: as names of local tools and as names that @MapTool sets', async () => {
    const server = await startRawHttp({ tools: [tool('a')] });
    const registry = await scene.registered(renaming(server.connection, { a: '__proto__' }), local('constructor'));
    expect(registry.names).toEqual(['__proto__', 'constructor']);
    expect(await registry.execute({ name: 'constructor' })).toMatchObject({ value: 'local' });
    expect(await rejection(registry.register(local('__proto__')))).toBeInstanceOf(ConfigurationError);
  });

  it('R18: as names of tools of a server in memory', async () => {
    const server = createTestServer({
      tools: { ['__proto__']: { call: () => 'proto' }, constructor: { call: () => 'new' } },
    });
    const Shop = shop({ command: 'never-started' });
    overrideClient(scene.container, Shop, server);
    const registry = await scene.registered(Shop);
    expect(registry.names).toEqual(['__proto__', 'constructor']);
    expect(await registry.execute({ name: '__proto__' })).toMatchObject({ value: 'proto' });
  });

  it('R18: as names of arguments, which arrive', async () => {
    const server = await startRawHttp({ tools: [tool('search')] });
    const registry = await scene.registered(shop(server.connection));
    const json = `{${inherited.map((name) => `"${name}":{"${name}":1}`).join()}}`;
    const { content } = await registry.execute({ name: 'search', input: JSON.parse(json) });
    expect(content).toBe(json);
    expect((await server.waitFor('tools/call')).body).toContain(`"arguments":${json}`);
  });

  it('R18: as keys of structured content', async () => {
    const json = `{${inherited.map((name) => `"${name}":{"${name}":"lone \\ud800"}`).join()}}`;
    const server = await startRawHttp({
      tools: [tool('search')],
      call: (_params, exchange) =>
        exchange.raw(
          200,
          { 'content-type': 'application/json' },
          `{"jsonrpc":"2.0","id":${String(exchange.id)},"result":{"content":[],"structuredContent":${json}}}`,
        ),
    });
    const registry = await scene.registered(shop(server.connection));
    const { content, value } = await registry.execute({ name: 'search' });
    expect(content).toBe(json.replaceAll('\\ud800', '\ufffd'));
    expect(Object.keys(value as object)).toEqual(inherited);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it('R18: what hides under __proto__ in a definition, a page or a result is not taken for its fields', async () => {
    const raw = (id: unknown, result: string): [number, Record<string, string>, string] => [
      200,
      { 'content-type': 'application/json' },
      `{"jsonrpc":"2.0","id":${String(id)},"result":${result}}`,
    ];
    const server = await startRawHttp({
      on: {
        'tools/list': (exchange) =>
          exchange.raw(
            ...raw(
              exchange.id,
              '{"__proto__":{"nextCursor":"x"},"tools":[{"name":"a"},{"__proto__":{"name":"hidden"}}]}',
            ),
          ),
        'tools/call': (exchange) =>
          exchange.raw(
            ...raw(
              exchange.id,
              '{"__proto__":{"isError":true},"content":[{"__proto__":{"type":"text","text":"hidden"}}]}',
            ),
          ),
      },
    });
    const registry = await scene.registered(shop(server.connection));
    expect(registry.names).toEqual(['a']);
    expect(scene.warnings).toEqual([expect.stringContaining('entry 2')]);
    const execution = await registry.execute({ name: 'a' });
    expect(execution.status).toBe('success');
    expect(execution.content).toBe('[{"__proto__":{"type":"text","text":"hidden"}}]');
  });

  /** An object schema whose only property has this name, is a string and is required. */
  const schemaWith = (name: string): Record<string, unknown> =>
    JSON.parse(
      `{"type":"object","properties":{"${name}":{"type":"string"}},"required":["${name}"],"additionalProperties":false}`,
    ) as Record<string, unknown>;

  it.each(inherited)('R18: %s as a property of the inputSchema of a local tool', async (name) => {
    const local = Tool.define({
      name: 'local',
      description: 'Local.',
      inputSchema: schemaWith(name),
      call: (input) => JSON.stringify(input),
    });
    const registry = await scene.registered(local);
    const executed = async (json: string): Promise<string> =>
      (await registry.execute({ name: 'local', input: JSON.parse(json) as unknown })).content;
    expect(await executed(`{"${name}":"x"}`)).toBe(`{"${name}":"x"}`);
    expect(await executed(`{"${name}":1}`)).toMatch(/^Invalid tool input: .*must be string/);
    expect(await executed('{}')).toMatch(/^Invalid tool input: .*must have required property/);
    expect(await executed('{"more":1}')).toMatch(/^Invalid tool input: .*additional properties/);
  });

  it.each(inherited)('R18: %s as an optional property that is not there', async (name) => {
    const { required: _required, ...inputSchema } = schemaWith(name);
    const local = Tool.define({ name: 'local', description: 'Local.', inputSchema, call: () => 'called' });
    const registry = await scene.registered(local);
    expect(await registry.execute({ name: 'local' })).toMatchObject({ content: 'called' });
  });

  it.each(inherited)('R18: %s as a property of an outputSchema', async (name) => {
    const server = await startRawHttp({
      tools: [tool('search', { outputSchema: schemaWith(name) })],
      call: (params, exchange) =>
        exchange.raw(
          200,
          { 'content-type': 'application/json' },
          `{"jsonrpc":"2.0","id":${String(exchange.id)},"result":{"content":[],"structuredContent":${String(params.arguments?.json)}}}`,
        ),
    });
    const registry = await scene.registered(shop(server.connection));
    const executed = (json: string): Promise<object> => registry.execute({ name: 'search', input: { json } });
    expect(await executed(`{"${name}":"x"}`)).toMatchObject({ status: 'success', content: `{"${name}":"x"}` });
    expect(await executed(`{"${name}":1}`)).toMatchObject({ status: 'error' });
    expect(await executed('{}')).toMatchObject({ status: 'error' });
  });

  it('R18: as properties of an inputSchema, which the model sees unchanged', async () => {
    const json = JSON.stringify(schemaWith('__proto__'));
    const server = await startRawHttp({
      on: {
        'tools/list': (exchange) =>
          exchange.raw(
            200,
            { 'content-type': 'application/json' },
            `{"jsonrpc":"2.0","id":${String(exchange.id)},"result":{"tools":[{"name":"a","inputSchema":${json}}]}}`,
          ),
      },
    });
    const registry = await scene.registered(shop(server.connection));
    expect(JSON.stringify(registry.specifications[0]?.inputSchema)).toBe(json);
  });

  it('R18: discovery by hand knows no names of its own either', async () => {
    const server = await startRawHttp({ tools: inherited.map((name) => tool(name)) });
    const run = scene.run();
    const provider = run.resolve(ToolsetDiscovery).provider(shop(server.connection, { name: '__proto__' }));
    const registry = run.resolve(ToolRegistry);
    await registry.register(provider);
    expect(registry.names).toEqual(inherited);
  });
});
