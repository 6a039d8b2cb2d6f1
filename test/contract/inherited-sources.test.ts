import { injectable } from 'tsyringe';
import { CreateClient, McpToolset, type ToolsetOptions } from 'mcp-toolset';
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
