import { injectable } from 'tsyringe';
import {
  CreateClient,
  MapResult,
  MapTool,
  McpToolset,
  OnError,
  type MapToolContext,
  type McpToolClass,
  type ToolsetOptions,
} from 'mcp-toolset';
import { createTestServer, type TestServer } from 'mcp-toolset/testing';
import { startRawHttp, tool } from '../servers';
import { closeRunsAfterEach, discover, faultOf, namesOf, registered, startRun } from './started-run';

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

describe('R1: decorated methods are inherited', () => {
  const upper =
    (name: string) =>
    (toolClass: McpToolClass, { mcpTool }: MapToolContext) => {
      toolClass.toolName = `${name}_${mcpTool.name}`;
      return toolClass;
    };

  function toolsets(server: TestServer) {
    @McpToolset()
    class Parent {
      @CreateClient()
      client() {
        return server.connect();
      }
      @MapTool()
      curate(toolClass: McpToolClass, context: MapToolContext): McpToolClass | null {
        return upper('parent')(toolClass, context);
      }
      @MapResult()
      present(value: unknown): unknown {
        return `parent: ${String(value)}`;
      }
    }
    return { Parent };
  }

  it('uses every role of parent and grandparent', async () => {
    const { Parent } = toolsets(serverWith('a'));
    class Child extends Parent {}
    @McpToolset()
    class Grandchild extends Child {}
    for (const toolset of [Child, Grandchild]) {
      const registry = await registered(toolset);
      expect(registry.names).toEqual(['parent_a']);
      expect(await registry.execute({ name: 'parent_a' })).toMatchObject({ content: 'parent: from a' });
    }
  });

  it('keeps the role of a method that is overridden without its decorator', async () => {
    const { Parent } = toolsets(serverWith('a'));
    class Child extends Parent {
      override curate(toolClass: McpToolClass, context: MapToolContext) {
        return upper('child')(toolClass, context);
      }
      override present(value: unknown) {
        return `child of ${String(super.present(value))}`;
      }
    }
    const registry = await registered(Child);
    expect(registry.names).toEqual(['child_a']);
    expect(await registry.execute({ name: 'child_a' })).toMatchObject({ content: 'child of parent: from a' });
  });

  it('lets a decorated override stand for the parent, once', async () => {
    const { Parent } = toolsets(serverWith('a'));
    const calls: string[] = [];
    @McpToolset()
    class Child extends Parent {
      @MapTool()
      override curate(toolClass: McpToolClass) {
        calls.push('child');
        return toolClass;
      }
    }
    expect(await namesOf(Child)).toEqual(['a']);
    expect(calls).toEqual(['child']);
  });

  it("replaces the parent's method when another one is given the role", async () => {
    const { Parent } = toolsets(serverWith('a'));
    @McpToolset()
    class Child extends Parent {
      @MapTool()
      choose(toolClass: McpToolClass, context: MapToolContext) {
        return upper('chosen')(toolClass, context);
      }
    }
    class Grandchild extends Child {
      override curate(): null {
        return null;
      }
    }
    expect(await namesOf(Child)).toEqual(['chosen_a']);
    expect(await namesOf(Grandchild)).toEqual(['chosen_a']);
    expect(await namesOf(Parent)).toEqual(['parent_a']);
  });

  it('takes roles from a base class that is no toolset itself', async () => {
    const server = serverWith('a');
    abstract class Base {
      @CreateClient()
      client() {
        return server.connect();
      }
    }
    @McpToolset({ tools: { prefix: 'x_' } })
    class Child extends Base {}
    expect(await namesOf(Child)).toEqual(['x_a']);
    expect(await faultOf(() => discover(Base as typeof Child))).toMatch(/Base is not a toolset/);
  });

  it('works with methods that are named by a symbol', async () => {
    const server = serverWith('a', 'b');
    const connect = Symbol('connect');
    const choose = Symbol('choose');
    @McpToolset()
    class Parent {
      @CreateClient()
      [connect]() {
        return server.connect();
      }
      @MapTool()
      [choose](toolClass: McpToolClass, { mcpTool }: MapToolContext): McpToolClass | null {
        return mcpTool.name === 'a' ? null : toolClass;
      }
    }
    class Child extends Parent {
      override [choose](toolClass: McpToolClass, { mcpTool }: MapToolContext) {
        return mcpTool.name === 'b' ? null : toolClass;
      }
    }
    expect(await namesOf(Parent)).toEqual(['b']);
    expect(await namesOf(Child)).toEqual(['a']);
  });

  it('inherits @OnError', async () => {
    const down = await startRawHttp({ on: { initialize: (exchange) => exchange.raw(500) } });
    const seen: unknown[] = [];
    @McpToolset({ optional: true, connection: down.connection })
    class Parent {
      @OnError()
      report(error: Error) {
        seen.push(error.message);
      }
    }
    class Child extends Parent {}
    expect(await namesOf(Child)).toEqual([]);
    expect(seen).toEqual([expect.stringMatching(/^Toolset Child, initialize/)]);
  });
});

describe("R1: a child's own source of clients replaces its parent's", () => {
  it('a connection replaces @CreateClient, overridden or not', async () => {
    const http = await startRawHttp({ tools: [tool('http')] });
    const { Parent } = family({}, {}, serverWith('memory'));
    @McpToolset({ connection: http.connection })
    class Child extends Parent {}
    @McpToolset({ connection: http.connection })
    class Overriding extends Parent {
      override client(): never {
        throw new Error('the connection comes first');
      }
    }
    expect(await namesOf(Child)).toEqual(['http']);
    expect(await namesOf(Overriding)).toEqual(['http']);
  });

  it('@CreateClient replaces a connection, in a marked class and in one that is not', async () => {
    const server = serverWith('memory');
    @McpToolset({ connection: { url: 'https://unused.invalid/mcp' }, tools: { prefix: 'p_' } })
    class Parent {}
    @McpToolset()
    class Child extends Parent {
      @CreateClient()
      client() {
        return server.connect();
      }
    }
    class Unmarked extends Parent {
      @CreateClient()
      client() {
        return server.connect();
      }
    }
    expect(await namesOf(Child)).toEqual(['p_memory']);
    expect(await namesOf(Unmarked)).toEqual(['p_memory']);
  });

  it('one kind replaces the same kind, and the nearest wins', async () => {
    const [first, second] = [
      await startRawHttp({ tools: [tool('one')] }),
      await startRawHttp({ tools: [tool('two')] }),
    ];
    @McpToolset({ connection: first.connection })
    class Parent {}
    @McpToolset({ connection: () => second.connection })
    class Child extends Parent {}
    @McpToolset({ connection: first.connection })
    class Grandchild extends Child {}
    expect([await namesOf(Parent), await namesOf(Child), await namesOf(Grandchild)]).toEqual([
      ['one'],
      ['two'],
      ['one'],
    ]);

    const { Child: Factory } = family({}, {}, serverWith('memory'));
    const other = serverWith('other');
    class Redeclared extends Factory {
      @CreateClient()
      another() {
        return other.connect();
      }
    }
    expect(await namesOf(Redeclared)).toEqual(['other']);
  });

  it("does not forward a replaced factory's connect options", async () => {
    const http = await startRawHttp({ on: { initialize: (exchange) => exchange.hang() } });
    const server = serverWith('memory');
    @McpToolset({ timeout: 40 })
    class Parent {
      @CreateClient({ timeout: 20 })
      client() {
        return server.connect();
      }
    }
    @McpToolset({ connection: http.connection })
    class Child extends Parent {}
    await expect(discover(Child)).rejects.toThrow('no answer within 40 ms');
  });
});

describe('R1: subclasses that are not marked', () => {
  @injectable()
  class Tokens {
    readonly token: string = 'secret';
  }

  function parentWith(server: TestServer) {
    const tokens: unknown[] = [];
    @McpToolset()
    class Parent {
      constructor(readonly tokens: Tokens) {}
      @CreateClient()
      client() {
        tokens.push(this.tokens.token);
        return server.connect();
      }
    }
    return { Parent, tokens };
  }

  it('are injected as their parent is, where they have no constructor of their own', async () => {
    const { Parent, tokens } = parentWith(serverWith('a'));
    class Child extends Parent {}
    class Grandchild extends Child {}
    expect(await namesOf(Grandchild)).toEqual(['a']);
    expect(tokens).toEqual(['secret']);
  });

  it('may have a constructor without parameters', async () => {
    const { Parent, tokens } = parentWith(serverWith('a'));
    class Child extends Parent {
      constructor() {
        super({ token: 'own' });
      }
    }
    expect(await namesOf(Child)).toEqual(['a']);
    expect(tokens).toEqual(['own']);
  });

  it('must be marked where the constructor has parameters, says the error', async () => {
    const { Parent } = parentWith(serverWith('a'));
    class Child extends Parent {
      constructor(
        tokens: Tokens,
        readonly extra: object,
      ) {
        super(tokens);
      }
    }
    expect(await faultOf(() => discover(Child))).toMatch(/could not make an instance of Child.*mark it @McpToolset/);
  });

  it('need no mark where the application made them injectable itself', async () => {
    const { Parent, tokens } = parentWith(serverWith('a'));
    @injectable()
    class Child extends Parent {
      constructor(
        other: Tokens,
        readonly extra: Tokens,
      ) {
        super(other);
      }
    }
    expect(await namesOf(Child)).toEqual(['a']);
    expect(tokens).toEqual(['secret']);
  });

  it('are toolsets of their own: one run may use parent and child', async () => {
    const server = serverWith('a');
    const { Parent } = parentWith(server);
    @McpToolset({ tools: { prefix: 'child_' } })
    class Child extends Parent {}
    const registry = await registered([Parent, Child], startRun());
    expect(registry.names).toEqual(['a', 'child_a']);
    expect(server.connections).toBe(2);
  });
});
