import { container } from 'tsyringe';
import {
  CreateClient,
  MapTool,
  McpTool,
  McpToolset,
  ToolBinding,
  type MapToolContext,
  type McpToolClass,
} from 'mcp-toolset';
import { createTestServer } from 'mcp-toolset/testing';
import { closeRunsAfterEach, discover, faultOf, namesOf, registered } from './started-run';

closeRunsAfterEach();

describe('R7: what @MapTool returns', () => {
  function shopOf(map: (toolClass: McpToolClass, context: MapToolContext) => unknown) {
    const server = createTestServer({ tools: { a: { call: () => 'a' }, b: { call: () => 'b' } } });
    @McpToolset()
    class Shop {
      @CreateClient()
      client() {
        return server.connect();
      }
      @MapTool()
      curate(toolClass: McpToolClass, context: MapToolContext) {
        return map(toolClass, context) as McpToolClass;
      }
    }
    return { Shop, server };
  }

  it.each<[string, (toolClass: McpToolClass) => unknown, string[]]>([
    ['the class', (toolClass) => toolClass, ['a', 'b']],
    ['a promise of the class', async (toolClass) => toolClass, ['a', 'b']],
    ['a subclass', (toolClass) => class extends toolClass {}, ['a', 'b']],
    ['a subclass of a subclass', (toolClass) => class extends class extends toolClass {} {}, ['a', 'b']],
    ['null', () => null, []],
    ['undefined', () => undefined, []],
    ['a promise of null', async () => null, []],
  ])('may be %s', async (_, map, expected) => {
    expect(await namesOf(shopOf(map).Shop)).toEqual(expected);
  });

  it('as a subclass works: its name, its statics and its call', async () => {
    const { Shop } = shopOf((toolClass, { mcpTool }) =>
      mcpTool.name === 'b'
        ? null
        : class extends toolClass {
            static override toolName = 'better';
            static override description = 'A better one.';
            override async call(...args: Parameters<McpTool['call']>) {
              return `better than ${JSON.stringify(await super.call(...args))}`;
            }
          },
    );
    const registry = await registered(Shop);
    expect(registry.specifications).toMatchObject([{ name: 'better', description: 'A better one.' }]);
    const { content } = await registry.execute({ name: 'better' });
    expect(content).toMatch(/^better than /);
  });

  let foreign: McpToolClass | undefined;
  const wrong: [string, (toolClass: McpToolClass) => unknown][] = [
    ['true', () => true],
    ['false', () => false],
    ['an empty string', () => ''],
    ['0', () => 0],
    ['a name', () => 'a'],
    ['an object', () => ({})],
    ['the definition', ({ mcpTool }) => mcpTool],
    ['an array of the class', (toolClass) => [toolClass]],
    ['McpTool itself', () => McpTool],
    ['another class', () => class {}],
    ['a function', () => () => undefined],
    ['the class of another tool', (toolClass) => (foreign ??= toolClass) && foreign],
    ['an instance', (toolClass) => new toolClass(new ToolBinding({ container }))],
  ];

  it.each(wrong)('may not be %s', async (_, map) => {
    foreign = undefined;
    const { Shop, server } = shopOf(map);
    expect(await faultOf(() => discover(Shop))).toMatch(
      /^Toolset Shop, tool "[ab]", method curate: @MapTool\(\) must return the class.*subclass.*null/,
    );
    expect(server.connections).toBe(0);
  });

  it.each<[string, (toolClass: McpToolClass) => McpToolClass]>([
    ['the class', (toolClass) => toolClass],
    ['a subclass', (toolClass) => class extends toolClass {}],
  ])('may not be an instance of %s, and the error says that it is one', async (_, map) => {
    const { Shop } = shopOf((toolClass, { binding }) => new (map(toolClass))(binding));
    expect(await faultOf(() => discover(Shop))).toBe(
      'Toolset Shop, tool "a", method curate: @MapTool() must return the class that it is given, a subclass of it, or ' +
        'null to omit the tool. It returned an instance of the class.',
    );
  });

  it('may not be a class of another run', async () => {
    const classes: McpToolClass[] = [];
    const { Shop } = shopOf((toolClass) => classes[classes.push(toolClass) > 2 ? 0 : classes.length - 1]);
    await discover(Shop);
    expect(await faultOf(() => discover(Shop))).toMatch(/must return the class that it is given/);
  });

  it.each<[string, Partial<Record<'toolName' | 'description' | 'inputSchema', unknown>>, RegExp]>([
    ['a name outside the alphabet', { toolName: 'a.b' }, /the name "a\.b" is not usable/],
    ['an empty name', { toolName: '' }, /the name "" is not usable/],
    ['a name of 65 characters', { toolName: 'x'.repeat(65) }, /the name "x{65}" is not usable/],
    ['a name that is no string', { toolName: undefined }, /the name undefined is not usable/],
    ['an empty description', { description: ' ' }, /the description is empty/],
    ['a description that is no string', { description: null }, /the description is empty/],
    ['an inputSchema that is none', { inputSchema: null }, /the inputSchema is no object/],
    ['an inputSchema that is an array', { inputSchema: [] }, /the inputSchema is no object/],
  ])('may not have %s', async (_, statics, expected) => {
    const { Shop } = shopOf((toolClass) => Object.assign(toolClass, statics));
    const message = await faultOf(() => discover(Shop));
    expect(message).toMatch(/^Toolset Shop, tool "a", method curate: /);
    expect(message).toMatch(expected);
  });

  it('as an error reaches the application as it was thrown, and the connection is closed', async () => {
    const failure = new TypeError('a bug of the application');
    for (const map of [() => Promise.reject(failure), fail]) {
      const { Shop, server } = shopOf(map);
      await expect(discover(Shop)).rejects.toBe(failure);
      expect(server.connections).toBe(0);
    }
    function fail(): never {
      throw failure;
    }
  });
});
