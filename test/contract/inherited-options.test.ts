import { CreateClient, McpToolset, type ToolsetOptions } from 'mcp-toolset';
import { createTestServer, type TestServer } from 'mcp-toolset/testing';
import { startRawHttp } from '../servers';
import { closeRunsAfterEach, discover, namesOf } from './started-run';

closeRunsAfterEach();

function serverWith(...names: string[]): TestServer {
  return createTestServer({ tools: Object.fromEntries(names.map((name) => [name, { call: () => `from ${name}` }])) });
}

/** A marked parent with its own client factory, and a marked child. */
function family(parent: ToolsetOptions, child: ToolsetOptions, server = serverWith('a', 'b', 'c')) {
  @McpToolset(parent)
  class Parent {
    @CreateClient()
    client() {
      return server.connect();
    }
  }
  @McpToolset(child)
  class Child extends Parent {}
  return { Parent, Child };
}

describe('R1: options are inherited', () => {
  it('merges tools key by key', async () => {
    const { Parent, Child } = family(
      { tools: { include: ['a', 'b'], prefix: 'p_' } },
      { tools: { prefix: 'c_', exclude: ['b'] } },
    );
    expect(await namesOf(Child)).toEqual(['c_a']);
    expect(await namesOf(Parent)).toEqual(['p_a', 'p_b']);
  });

  it('merges limits key by key', async () => {
    const { Child } = family({ limits: { maxTools: 2, maxPages: 9 } }, { limits: { maxPages: 8 } });
    await expect(discover(Child)).rejects.toThrow(/more than 2 tools \(limit maxTools\)/);
    const { Child: Changed } = family({ limits: { maxTools: 2 } }, { limits: { maxTools: 3 } });
    expect(await namesOf(Changed)).toEqual(['a', 'b', 'c']);
  });

  it('takes an undefined value as not given, at every depth', async () => {
    const { Child } = family(
      { name: 'shop', tools: { include: ['a'], prefix: 'p_' }, limits: { maxTools: 3 }, optional: false },
      {
        name: undefined,
        connection: undefined,
        optional: undefined,
        timeout: undefined,
        calls: undefined,
        tools: { include: undefined, prefix: undefined },
        limits: { maxTools: undefined },
      },
    );
    expect(await namesOf(Child)).toEqual(['p_a']);
    const { Child: Bare } = family({ tools: { prefix: 'p_' } }, { tools: undefined, limits: undefined });
    expect(await namesOf(Bare)).toEqual(['p_a', 'p_b', 'p_c']);
  });

  it('replaces a list as a whole', async () => {
    const { Child } = family({ tools: { include: ['a', 'b'] } }, { tools: { include: ['c'] } });
    expect(await namesOf(Child)).toEqual(['c']);
  });

  it('inherits and changes optional', async () => {
    const down = await startRawHttp({ on: { initialize: (exchange) => exchange.raw(503) } });
    @McpToolset({ optional: true, connection: down.connection })
    class Parent {}
    @McpToolset()
    class Child extends Parent {}
    @McpToolset({ optional: false })
    class Strict extends Child {}
    expect(await namesOf(Child)).toEqual([]);
    await expect(discover(Strict)).rejects.toThrow(/Toolset Strict, initialize: the server answered HTTP 503/);
  });

  it("keeps an explicit name, and calls a nameless parent's child by its own class", async () => {
    const named = family({ name: 'shop', limits: { maxTools: 1 } }, {});
    await expect(discover(named.Child)).rejects.toThrow(/^Toolset shop, /);
    const renamed = family({ name: 'shop', limits: { maxTools: 1 } }, { name: 'bakery' });
    await expect(discover(renamed.Child)).rejects.toThrow(/^Toolset bakery, /);
    const nameless = family({ limits: { maxTools: 1 } }, {});
    await expect(discover(nameless.Child)).rejects.toThrow(/^Toolset Child, /);
    await expect(discover(nameless.Parent)).rejects.toThrow(/^Toolset Parent, /);
  });

  it('reaches grandchildren, through classes that are not marked', async () => {
    const { Child } = family({ tools: { include: ['a', 'b'], prefix: 'p_' } }, { tools: { exclude: ['b'] } });
    class Unmarked extends Child {}
    @McpToolset({ tools: { prefix: 'g_' } })
    class Grandchild extends Unmarked {}
    class Last extends Grandchild {}
    expect(await namesOf(Unmarked)).toEqual(['p_a']);
    expect(await namesOf(Grandchild)).toEqual(['g_a']);
    expect(await namesOf(Last)).toEqual(['g_a']);
  });
});
