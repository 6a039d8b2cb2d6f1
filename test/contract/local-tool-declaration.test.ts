import { z } from 'zod';
import { container } from 'tsyringe';
import { Tool, type ToolClass, type ToolDefinition } from 'mcp-toolset';
import { closeRunsAfterEach, faultOf, registered } from './started-run';

closeRunsAfterEach();

const schema = { type: 'object' };

/** Any local tool; what is given replaces its parts. */
function definition(parts: Partial<Record<keyof ToolDefinition, unknown>> = {}): ToolDefinition {
  return {
    name: 'local',
    description: 'A local tool.',
    inputSchema: schema,
    call: () => 'done',
    ...parts,
  } as ToolDefinition;
}

describe('R41: name, description and schema of a local tool', () => {
  const faulty: [string, Partial<Record<'name' | 'description' | 'inputSchema', unknown>>, RegExp][] = [
    ['no name', { name: undefined }, /"(toolName|name)" is missing; expected 1 to 64/],
    ['an empty name', { name: '' }, /"(toolName|name)" is missing/],
    ['a name of 65 characters', { name: 'x'.repeat(65) }, /"(toolName|name)" is "x{65}"/],
    ['a name with a dot', { name: 'a.b' }, /"(toolName|name)" is "a\.b"/],
    ['a name with a space', { name: 'a b' }, /"(toolName|name)" is "a b"/],
    ['a name with a line break at its end', { name: 'a\n' }, /"(toolName|name)" is "a\\n"/],
    ['a name outside ASCII', { name: 'größe' }, /"(toolName|name)" is "größe"/],
    ['a name that is no string', { name: 5 }, /"(toolName|name)" is a value of type number/],
    ['no description', { description: undefined }, /"description" is missing/],
    ['a blank description', { description: ' \n' }, /"description" is " \\n"/],
    ['a description that is no string', { description: {} }, /"description" is a value of type object/],
    ['no schema', { inputSchema: undefined }, /"inputSchema" is missing; expected a JSON Schema object/],
    ['the schema null', { inputSchema: null }, /"inputSchema" is a value of type object/],
    ['the schema true', { inputSchema: true }, /"inputSchema" is a value of type boolean/],
    ['an array as schema', { inputSchema: [schema] }, /"inputSchema" is a value of type object/],
    ['a schema that is not valid', { inputSchema: { type: 'objekt' } }, /inputSchema is not a valid JSON Schema/],
    ['a broken pattern', { inputSchema: { properties: { a: { pattern: '(' } } } }, /inputSchema is not a valid JSON/],
    ['a $ref to nowhere', { inputSchema: { $ref: '#/$defs/no' } }, /inputSchema is not a valid JSON Schema/],
    ['a remote $ref', { inputSchema: { $ref: 'https://a.invalid/b' } }, /inputSchema is not a valid JSON Schema/],
    [
      'an unknown dialect',
      { inputSchema: { $schema: 'https://a.invalid/s' } },
      /unknown \$schema "https:\/\/a.invalid/,
    ],
    [
      'draft-04',
      { inputSchema: { $schema: 'http://json-schema.org/draft-04/schema#' } },
      /unknown \$schema .*draft-04/,
    ],
    ['a $schema that is no string', { inputSchema: { $schema: 7 } }, /unknown \$schema 7/],
  ];

  it.each(faulty)('%s is refused by Tool.define, at once', async (_, parts, expected) => {
    const message = await faultOf(() => Tool.define(definition(parts)));
    expect(message).toMatch(/^Tool/);
    expect(message).toMatch(expected);
  });

  it.each(faulty)('%s is refused when a class is registered', async (_, parts, expected) => {
    class Faulty extends Tool {
      call() {
        return 1;
      }
    }
    const { name, ...rest } = definition(parts);
    Object.assign(Faulty, { ...rest, toolName: name, call: undefined });
    for (const entry of [Faulty, new Faulty()]) expect(await faultOf(() => registered(entry))).toMatch(expected);
  });

  it('the shortest and the longest name are fine', async () => {
    const names = ['a', '-', '_', 'Z9', 'x'.repeat(64), '__proto__', 'constructor'];
    expect((await registered(names.map((name) => Tool.define(definition({ name }))))).names).toEqual(names);
  });

  it('a base class of tools, or Tool itself, is no tool', async () => {
    abstract class Base extends Tool {}
    expect(await faultOf(() => registered(Base as unknown as ToolClass))).toMatch(/^Tool class Base: "toolName"/);
    expect(await faultOf(() => registered(Tool as unknown as ToolClass))).toMatch(
      /the class Tool is nothing that can be registered/,
    );
  });

  it.each([
    ['a zod schema', z.object({ q: z.string() })],
    ['the shape of one, as the SDK takes it', { q: z.string() }],
    ['a schema of the older zod', { _def: {}, parse: () => undefined }],
  ])('%s is no JSON Schema, and not taken for one', async (_, inputSchema) => {
    expect(await faultOf(() => Tool.define(definition({ inputSchema })))).toMatch(
      /"inputSchema" is a zod schema; expected JSON Schema, as z.toJSONSchema/,
    );
  });

  it('Tool.define needs a function, and names the tool', async () => {
    for (const call of [undefined, null, 'x']) {
      expect(await faultOf(() => Tool.define(definition({ call })))).toMatch(
        /^Tool.define\("local"\): expected "call"/,
      );
    }
  });

  it('Tool.define makes a class that can be extended, injected into and told apart', async () => {
    const Local = Tool.define(definition({ exclusive: true }));
    expect([Local.toolName, Local.exclusive, Local.inputSchema]).toEqual(['local', true, schema]);
    expect(new Local()).toBeInstanceOf(Tool);
    expect(await faultOf(() => registered([Local, Tool.define(definition())]))).toMatch(/Tool.define\("local"\)/);
    expect(container.resolve(Local)).toBeInstanceOf(Local);
  });
});
