import { container } from 'tsyringe';
import {
  CreateClient,
  McpToolset,
  Tool,
  ToolBinding,
  ToolRegistry,
  ToolsetDiscovery,
  type McpToolClass,
  type ToolsetClass,
} from 'mcp-toolset';
import { createTestServer, type TestServer } from 'mcp-toolset/testing';
import { closeRunsAfterEach, startRun } from '../contract/started-run';

closeRunsAfterEach();

function shop(...names: string[]): { server: TestServer; Shop: ToolsetClass } {
  const server = createTestServer({ tools: Object.fromEntries(names.map((name) => [name, { call: () => name }])) });
  @McpToolset()
  class Shop {
    @CreateClient()
    client() {
      return server.connect();
    }
  }
  return { server, Shop };
}

const withoutRun = (): ToolBinding => new ToolBinding({ container: container.createChildContainer() });

describe('tools that are made when they are first needed', () => {
  it('are what their specifications said, and always the same ones', async () => {
    const run = startRun();
    const registry = run.resolve(ToolRegistry);
    const { Shop } = shop('a', 'b');
    await registry.register(Shop);
    const { specifications } = registry;
    const tool = registry.get('a');
    expect(tool).toBe(registry.get('a'));
    expect([...registry]).toEqual([tool, registry.get('b')]);
    expect([...registry].map(({ specification }) => specification)).toEqual(specifications);
    expect(registry.specifications).toEqual(specifications);
  });

  it('are of the classes that discovery gives', async () => {
    const run = startRun();
    const registry = run.resolve(ToolRegistry);
    const { Shop } = shop('a');
    await registry.register(Shop);
    const [toolClass] = await container.resolve(ToolsetDiscovery).discover(Shop, run.resolve(ToolBinding));
    expect(registry.get('a')).toBeInstanceOf(toolClass);
  });

  it('have what was changed in their classes before they were registered', async () => {
    const run = startRun();
    const registry = run.resolve(ToolRegistry);
    const { Shop } = shop('a', 'b');
    const [first, second] = await container.resolve(ToolsetDiscovery).discover(Shop, run.resolve(ToolBinding));
    first!.toolName = 'renamed';
    second!.availableIf = () => false;
    await registry.register(Shop);
    expect(registry.names).toEqual(['renamed']);
    expect(await registry.execute({ name: 'renamed' })).toMatchObject({ content: 'a' });
  });

  it('come from the discovery that the application puts in the place of the library’s', async () => {
    const asked: ToolsetClass[] = [];
    class OwnDiscovery extends ToolsetDiscovery {
      override async discover(toolset: ToolsetClass, binding: ToolBinding): Promise<McpToolClass[]> {
        asked.push(toolset);
        return (await super.discover(toolset, binding)).slice(0, 1);
      }
    }
    const run = startRun();
    run.container.register(ToolsetDiscovery, { useClass: OwnDiscovery });
    const registry = run.resolve(ToolRegistry);
    const { Shop } = shop('a', 'b');
    await registry.register(Shop);
    expect(asked).toEqual([Shop]);
    expect(registry.names).toEqual(['a']);
  });
});

describe('R9: without a run, a registry of tools that nobody has needed yet', () => {
  it('keeps their session until it closes', async () => {
    const { server, Shop } = shop('a', 'b');
    const registry = new ToolRegistry(withoutRun());
    await registry.register(Shop);
    expect(server.connections).toBe(1);
    expect(await registry.execute({ name: 'b' })).toMatchObject({ content: 'b' });
    await registry.close();
    expect(server.connections).toBe(0);
  });

  it('closes their session at once, where another entry cannot be registered', async () => {
    const { server, Shop } = shop('a');
    const Same = Tool.define({ name: 'a', description: 'The same name.', inputSchema: {}, call: () => '' });
    const registry = new ToolRegistry(withoutRun());
    await expect(registry.register(Shop, Same)).rejects.toThrow('two tools have the name "a"');
    expect([server.connections, registry.names]).toEqual([0, []]);
  });

  it('at once too, where a tool of it cannot be made', async () => {
    const { server, Shop } = shop('a');
    class Broken extends Tool {
      static override toolName = 'broken';
      static override description = 'Cannot be made.';
      static override inputSchema = {};
      constructor() {
        super();
        throw new Error('no');
      }
      override call(): string {
        return '';
      }
    }
    const registry = new ToolRegistry(withoutRun());
    await expect(registry.register(Shop, Broken)).rejects.toThrow('could not make an instance');
    expect(server.connections).toBe(0);
  });
});
