import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import Keyv from 'keyv';
import { CatalogStore, configureMcpToolset, ConfigurationError, type KeyvLike, type ToolsetClass } from 'mcp-toolset';
import { container, type DependencyContainer } from 'tsyringe';
import { closeRunsAfterEach, gate, registered, startRun, toolsetFor } from '../contract/live-run';
import { closeServersAfterEach, startRawHttp, text, tool, type RawHttpScript, type RawHttpServer } from '../servers';

closeServersAfterEach();
closeRunsAfterEach();

const MINUTE = 60_000;
const lists = (server: RawHttpServer): number => server.requests.filter(({ method }) => method === 'tools/list').length;

interface Process {
  readonly container: DependencyContainer;
  readonly warnings: string[];
}

/** What a process with this store has: processes share nothing but what is behind their stores. */
function processWith(store: CatalogStore): Process {
  const child = container.createChildContainer();
  const warnings: string[] = [];
  child.registerInstance(CatalogStore, store);
  configureMcpToolset(child, {
    logger: { debug: () => undefined, error: () => undefined, warn: (message) => warnings.push(message) },
  });
  return { container: child, warnings };
}

async function shop(script: RawHttpScript = {}): Promise<{ server: RawHttpServer; toolset: ToolsetClass }> {
  const server = await startRawHttp({ tools: [tool('search')], ...script });
  const catalog = { ttl: MINUTE, key: () => 'tenant-4711' };
  return { server, toolset: toolsetFor(server.connection, { catalog }) };
}

const namesIn = async ({ container }: Process, toolset: ToolsetClass): Promise<readonly string[]> =>
  (await registered(startRun({ container }), toolset)).names;

/** A Keyv of which some functions are replaced. */
function keyvWith(replaced: Partial<KeyvLike>): KeyvLike {
  const keyv = new Keyv();
  const own: KeyvLike = {
    get: (key) => keyv.get(key),
    set: (key, value, ttl) => keyv.set(key, value, ttl),
    delete: (key) => keyv.delete(key),
  };
  return { ...own, ...replaced };
}

describe('a CatalogStore over a Keyv', () => {
  it('shares catalogs among processes', async () => {
    const keyv = new Keyv();
    const { server, toolset } = await shop();
    expect(await namesIn(processWith(CatalogStore.over(keyv)), toolset)).toEqual(['search']);
    const sent = server.requests.length;
    const other = processWith(CatalogStore.over(keyv));
    expect(await namesIn(other, toolset)).toEqual(['search']);
    expect(server.requests).toHaveLength(sent);
    const registry = await registered(startRun({ container: other.container }), toolset);
    expect(await registry.execute({ name: 'search', input: { q: 1 } })).toMatchObject({ content: '{"q":1}' });
  });

  it('is told how long a catalog is good for, and not the key of the application', async () => {
    const set = jest.fn(() => Promise.resolve(true));
    const { toolset } = await shop();
    await namesIn(processWith(CatalogStore.over(keyvWith({ set }))), toolset);
    expect(set).toHaveBeenCalledTimes(1);
    expect(set).toHaveBeenCalledWith(
      expect.stringMatching(/^mcp-toolset:1:Remote:[0-9a-f]{64}$/),
      expect.anything(),
      MINUTE,
    );
    expect(JSON.stringify(set.mock.calls)).not.toContain('4711');
  });

  it('is asked once, whatever the number of runs', async () => {
    const get = jest.fn(() => Promise.resolve(undefined));
    const { server, toolset } = await shop();
    const here = processWith(CatalogStore.over(keyvWith({ get })));
    await Promise.all([1, 2, 3, 4].map(() => namesIn(here, toolset)));
    expect(get).toHaveBeenCalledTimes(1);
    expect(lists(server)).toBe(1);
  });

  it('forgets a catalog that the server has changed, also while it is being written', async () => {
    const written = gate();
    const keyv = new Keyv();
    const set: KeyvLike['set'] = async (key, value, ttl) => {
      await written.passed;
      return keyv.set(key, value, ttl);
    };
    const deleted = gate();
    const remove: KeyvLike['delete'] = async (key) => {
      await keyv.delete(key);
      deleted.open();
    };
    const { server, toolset } = await shop({
      call: (_params, exchange) =>
        void exchange.sse().notify('notifications/tools/list_changed').reply(text('done')).end(),
    });
    const here = processWith(CatalogStore.over({ get: (key) => keyv.get(key), set, delete: remove }));
    const registry = await registered(startRun({ container: here.container }), toolset);
    await registry.execute({ name: 'search' });
    written.open();
    await deleted.passed;
    server.script.tools = [tool('new')];
    expect(await namesIn(processWith(CatalogStore.over(keyv)), toolset)).toEqual(['new']);
  });

  it('is told once more to forget a catalog, however often the server says that it has changed meanwhile', async () => {
    const begun = gate();
    const first = gate();
    const second = gate();
    const deleted: string[] = [];
    const { server, toolset } = await shop({
      call: async (_params, exchange) => {
        const stream = exchange.sse();
        for (let count = 0; count < 100; count += 1) stream.notify('notifications/tools/list_changed');
        await begun.passed;
        for (let count = 0; count < 100; count += 1) stream.notify('notifications/tools/list_changed');
        stream.reply(text('done')).end();
      },
    });
    const store = CatalogStore.over(
      keyvWith({
        delete: async (key) => {
          if (deleted.push(key) > 1) return second.open();
          begun.open();
          await first.passed;
        },
      }),
    );
    const registry = await registered(startRun({ container: processWith(store).container }), toolset);
    await registry.execute({ name: 'search' });
    expect(deleted).toHaveLength(1);
    first.open();
    await second.passed;
    await registered(startRun({ container: processWith(store).container }), toolset);
    expect(deleted).toHaveLength(2);
    expect(lists(server)).toBe(2);
  });

  it('is told again to forget a catalog that another process has written since', async () => {
    const keyv = new Keyv();
    const forgotten: (() => void)[] = [];
    const remove = async (key: string): Promise<void> => {
      await keyv.delete(key);
      forgotten.shift()?.();
    };
    const { server, toolset } = await shop({
      call: (_params, exchange) =>
        void exchange.sse().notify('notifications/tools/list_changed').reply(text('done')).end(),
    });
    const here = processWith(
      CatalogStore.over(
        keyvWith({ get: (key) => keyv.get(key), set: (...entry) => keyv.set(...entry), delete: remove }),
      ),
    );
    const registry = await registered(startRun({ container: here.container }), toolset);
    for (const name of ['second', 'third']) {
      const told = new Promise<void>((resolve) => forgotten.push(resolve));
      server.script.tools = [tool(name)];
      await registry.execute({ name: 'search' });
      await told;
      expect(await namesIn(processWith(CatalogStore.over(keyv)), toolset)).toEqual([name]);
    }
  });

  it('is not asked for a catalog that has changed while it was fetched, and does not keep the old one', async () => {
    const keyv = new Keyv();
    const { server, toolset } = await shop({
      tools: (_params, exchange) =>
        void exchange
          .sse()
          .notify('notifications/tools/list_changed')
          .reply({ tools: [tool('old')] })
          .end(),
    });
    const here = processWith(CatalogStore.over(keyv));
    expect(await namesIn(here, toolset)).toEqual(['old']);
    server.script.tools = [tool('new')];
    expect(await namesIn(here, toolset)).toEqual(['new']);
    expect(await namesIn(processWith(CatalogStore.over(keyv)), toolset)).toEqual(['new']);
    expect(lists(server)).toBe(2);
  });

  it('that cannot forget a catalog is not asked for it again', async () => {
    const keyv = keyvWith({ delete: () => new Promise(() => undefined) });
    const { server, toolset } = await shop({
      call: (_params, exchange) => exchange.error(-32602, 'Unknown tool: search'),
    });
    const here = processWith(CatalogStore.over(keyv));
    const registry = await registered(startRun({ container: here.container }), toolset);
    await registry.execute({ name: 'search' });
    server.script.tools = [tool('new')];
    expect(await namesIn(here, toolset)).toEqual(['new']);
  });

  it('shares nothing with a process that has another', async () => {
    const { server, toolset } = await shop();
    await namesIn(processWith(CatalogStore.over(new Keyv())), toolset);
    await namesIn(processWith(CatalogStore.over(new Keyv())), toolset);
    await namesIn(processWith(new CatalogStore()), toolset);
    expect(lists(server)).toBe(3);
  });

  it('keeps the catalogs of different servers and keys apart', async () => {
    const keyv = new Keyv();
    const { toolset } = await shop();
    const other = await shop({ tools: [tool('other')] });
    expect(await namesIn(processWith(CatalogStore.over(keyv)), toolset)).toEqual(['search']);
    expect(await namesIn(processWith(CatalogStore.over(keyv)), other.toolset)).toEqual(['other']);
  });

  it('is not used by two toolsets of one name', async () => {
    const here = processWith(CatalogStore.over(new Keyv()));
    await namesIn(here, (await shop()).toolset);
    const second = namesIn(here, (await shop()).toolset);
    await expect(second).rejects.toThrow(ConfigurationError);
    await expect(second).rejects.toThrow(/Remote: another toolset of this name/);
  });
});

const failingNever = {
  opts: {},
  get: () => Promise.resolve(undefined),
  set: () => Promise.resolve(true),
  delete: () => Promise.resolve(true),
  clear: () => Promise.resolve(),
};

describe('a store that fails costs a warning and no run', () => {
  const never = (): Promise<never> => new Promise(() => undefined);
  it.each<[string, Partial<KeyvLike>, RegExp]>([
    ['cannot read', { get: () => Promise.reject(new Error('no redis')) }, /failed to get a catalog: no redis/],
    [
      'throws',
      {
        get: () => {
          throw new Error('no redis');
        },
      },
      /failed to get a catalog: no redis/,
    ],
    ['does not answer', { get: never }, /failed to get a catalog: it took longer than/],
    ['cannot write', { set: () => Promise.reject(new Error('read only')) }, /failed to set a catalog: read only/],
    [
      'throws what the library throws',
      { set: () => Promise.reject(new ConfigurationError('my own')) },
      /failed to set a catalog: my own/,
    ],
    ['never has written', { set: never }, /failed to set a catalog: it took longer than/],
  ])('because it %s', async (_, keyv, warning) => {
    const { server, toolset } = await shop();
    const warned = gate();
    const here = processWith(CatalogStore.over(keyvWith(keyv)));
    here.warnings.push = (message) => {
      warned.open();
      return Array.prototype.push.call(here.warnings, message);
    };
    expect(await namesIn(here, toolset)).toEqual(['search']);
    expect(lists(server)).toBe(1);
    await warned.passed;
    expect([...here.warnings]).toEqual([expect.stringMatching(warning)]);
  });

  const down = (): Promise<never> => Promise.reject(new Error('redis is down'));
  it.each<[string, object, object, string]>([
    ['reading, which Keyv tells where it may throw', { get: down }, { throwOnErrors: true }, 'get'],
    ['writing, which Keyv tells by an event', { set: down }, {}, 'set'],
  ])('because its adapter fails at %s', async (_, failing, options, what) => {
    const store = { ...failingNever, ...failing };
    const { server, toolset } = await shop();
    const here = processWith(CatalogStore.over(new Keyv({ store, ...options })));
    expect(await namesIn(here, toolset)).toEqual(['search']);
    expect(lists(server)).toBe(1);
    await setImmediate();
    expect(here.warnings).toEqual([expect.stringContaining(`failed to ${what} a catalog: redis is down`)]);
  });

  const deep = (depth: number): object => (depth === 0 ? {} : { not: deep(depth - 1) });
  const now = (): number => Date.now();
  it.each<[string, () => unknown]>([
    ['no object', () => 'nonsense'],
    ['no tools', () => ({ at: now() })],
    ['tools that are no array', () => ({ at: now(), tools: {} })],
    ['nothing usable', () => ({ at: now(), tools: [1, 2] })],
    [
      'more tools than are allowed',
      () => ({ at: now(), tools: Array.from({ length: 1_001 }, (_, n) => tool(`t${n}`)) }),
    ],
    ['a schema that is too deep', () => ({ at: now(), tools: [tool('x', { inputSchema: deep(200) })] })],
    ['no time', () => ({ tools: [tool('x')] })],
  ])('because it has kept %s', async (_, value) => {
    const { server, toolset } = await shop();
    const here = processWith(CatalogStore.over(keyvWith({ get: () => Promise.resolve(value()) })));
    expect(await namesIn(here, toolset)).toEqual(['search']);
    expect(lists(server)).toBe(1);
    expect(here.warnings.slice(-1)).toEqual([
      expect.stringMatching(/Remote: what the CatalogStore has kept is not used/),
    ]);
  });

  it.each([
    ['for too long', -MINUTE],
    ['by a clock that is ahead', MINUTE / 2],
  ])('and what it has kept %s is not used', async (_, ahead) => {
    const { server, toolset } = await shop();
    const value = { at: Date.now() + ahead, tools: [tool('old')] };
    const here = processWith(CatalogStore.over(keyvWith({ get: () => Promise.resolve(value) })));
    expect(await namesIn(here, toolset)).toEqual(['search']);
    expect(lists(server)).toBe(1);
    expect(here.warnings).toEqual([]);
  });

  it('and one that loses its connection does not end the process', () => {
    class Adapter extends EventEmitter implements KeyvLike {
      get = never;
      set = never;
      delete = never;
    }
    const adapter = new Adapter();
    CatalogStore.over(adapter);
    expect(() => adapter.emit('error', new Error('connection lost'))).not.toThrow();
  });
});
