import {
  CreateClient,
  MapResult,
  MapTool,
  McpToolset,
  OnError,
  type MapToolContext,
  type McpToolClass,
} from 'mcp-toolset';
import { createTestServer, type TestServer } from 'mcp-toolset/testing';
import { startRawHttp } from '../servers';
import { closeRunsAfterEach, discover, faultOf, namesOf, registered } from './started-run';

closeRunsAfterEach();

function serverWith(...names: string[]): TestServer {
  return createTestServer({ tools: Object.fromEntries(names.map((name) => [name, { call: () => `from ${name}` }])) });
}

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
