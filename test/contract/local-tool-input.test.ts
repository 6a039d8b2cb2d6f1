import { Tool, type JsonSchema, type ToolExecution } from 'mcp-toolset';
import { Script } from 'node:vm';
import { closeRunsAfterEach, registered } from './started-run';

closeRunsAfterEach();

/** What a tool with this schema makes of an input: the value is the input that reached it. */
async function called(inputSchema: JsonSchema, input?: unknown): Promise<ToolExecution> {
  const registry = await registered(
    Tool.define({ name: 'local', description: 'A local tool.', inputSchema, call: (received) => received }),
  );
  return registry.execute({ name: 'local', input });
}

const refused = (content: string): unknown => expect.objectContaining({ status: 'error', value: undefined, content });
const accepted = (value: unknown): unknown => expect.objectContaining({ status: 'success', value });

describe('R41: input is checked before call', () => {
  const order: JsonSchema = {
    type: 'object',
    properties: {
      id: { type: 'integer', minimum: 1 },
      lines: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string', minLength: 2 } } } },
      state: { enum: ['open', 'paid'] },
      'a/b': { type: 'boolean' },
    },
    required: ['id'],
    additionalProperties: false,
  };

  it.each<[string, unknown, string]>([
    ['a missing property', {}, "/ must have required property 'id'."],
    ['a wrong type', { id: 'seven' }, '/id must be integer.'],
    ['a value out of bounds', { id: 0 }, '/id must be >= 1.'],
    [
      'a fault deep inside',
      { id: 1, lines: [{ sku: 'ab' }, { sku: 'x' }] },
      '/lines/1/sku must NOT have fewer than 2 characters.',
    ],
    [
      'a value outside an enum',
      { id: 1, state: 'lost' },
      '/state must be equal to one of the allowed values ["open","paid"].',
    ],
    ['an additional property', { id: 1, extra: 2 }, '/ must NOT have additional properties ("extra").'],
    ['a name with a slash', { id: 1, 'a/b': 1 }, '/a~1b must be boolean.'],
    [
      'every fault',
      { id: 'x', lines: 5, state: 1 },
      '/id must be integer; /lines must be array; /state must be equal to one of the allowed values ["open","paid"].',
    ],
  ])('and %s is told with its path', async (_, input, message) => {
    expect(await called(order, input)).toEqual(refused(`Invalid tool input: ${message}`));
  });

  it('and at most ten faults are told, and how many more there are', async () => {
    const items: JsonSchema = { type: 'object', properties: { list: { type: 'array', items: { type: 'string' } } } };
    const { content } = await called(items, { list: Array.from({ length: 25 }, (_, index) => index) });
    expect(content).toMatch(
      /^Invalid tool input: \/list\/0 must be string; .*\/list\/9 must be string; and 15 more\.$/,
    );
  });

  it.each<[string, unknown, string]>([
    ['a string', 'x', 'a string'],
    ['an empty string', '', 'a string'],
    ['a number', 7, 'a number'],
    ['NaN', NaN, 'a number'],
    ['false', false, 'a boolean'],
    ['an array', [{}], 'an array'],
    ['a function', () => ({}), 'a function'],
    ['a bigint', 1n, 'a bigint'],
    ['a symbol', Symbol('s'), 'a symbol'],
  ])('and %s is no input', async (_, input, name) => {
    expect(await called({}, input)).toEqual(refused(`Invalid tool input: expected an object, got ${name}.`));
  });

  it('and null and undefined are {}, which is checked as well', async () => {
    for (const input of [undefined, null]) {
      expect(await called({ type: 'object' }, input)).toEqual(accepted({}));
      expect(await called(order, input)).toEqual(refused("Invalid tool input: / must have required property 'id'."));
    }
  });

  it('and a tool is not called with what does not fit', async () => {
    const calls: unknown[] = [];
    const registry = await registered(
      Tool.define({ name: 'local', description: 'x', inputSchema: order, call: (input) => calls.push(input) }),
    );
    await registry.execute({ name: 'local', input: { id: 0 } });
    await registry.execute({ name: 'local', input: { id: 2 } });
    expect(calls).toEqual([{ id: 2 }]);
  });

  it('and input is passed on as it came: no coercion, no defaults, nothing removed', async () => {
    const schema = { properties: { a: { type: 'string', default: 'x' }, b: { type: 'number' } } };
    const input = { b: 1, more: true };
    const { value } = await called(schema, input);
    expect(value).toBe(input);
    expect(input).toEqual({ b: 1, more: true });
    expect(await called(schema, { b: '1' })).toEqual(refused('Invalid tool input: /b must be number.'));
  });

  it('and names of Object.prototype are ordinary property names', async () => {
    const schema = { type: 'object', required: ['constructor'], properties: { toString: { type: 'string' } } };
    const missing = "Invalid tool input: / must have required property 'constructor'.";
    expect(await called(schema, {})).toEqual(refused(missing));
    expect(await called(schema, { constructor: 1 })).toEqual(accepted({ constructor: 1 }));
    const odd: unknown = JSON.parse('{"constructor":1,"__proto__":"x","toString":1}');
    expect(await called(schema, odd)).toEqual(refused('Invalid tool input: /toString must be string.'));
  });
});

describe('R41: by the dialect that $schema names', () => {
  // `items` is an array, `dependencies` and `$recursiveRef` exist or not: each dialect reads these differently.
  const tuple = { properties: { pair: { items: [{ type: 'number' }, { type: 'string' }], additionalItems: false } } };
  const prefixed = { properties: { pair: { prefixItems: [{ type: 'number' }], items: false } } };
  const dependent = { dependentRequired: { card: ['name'] } };
  const DRAFT_06 = 'http://json-schema.org/draft-06/schema#';
  const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
  const D2019 = 'https://json-schema.org/draft/2019-09/schema';
  const D2020 = 'https://json-schema.org/draft/2020-12/schema';

  it.each<[string, JsonSchema, unknown, boolean]>([
    ['draft-07 knows arrays of items', { $schema: DRAFT_07, ...tuple }, { pair: [1, 2] }, false],
    ['draft-07 without the #', { $schema: DRAFT_07.slice(0, -1), ...tuple }, { pair: [1, 2] }, false],
    ['draft-07 accepts what fits', { $schema: DRAFT_07, ...tuple }, { pair: [1, 'b'] }, true],
    [
      'draft-07 does not know prefixItems',
      { $schema: DRAFT_07, properties: { pair: { prefixItems: [{ type: 'string' }] } } },
      { pair: [1] },
      true,
    ],
    ['draft-07 does not know dependentRequired', { $schema: DRAFT_07, ...dependent }, { card: 1 }, true],
    [
      'draft-07 knows if, then and else',
      { $schema: DRAFT_07, if: { required: ['a'] }, then: { required: ['b'] } },
      { a: 1 },
      false,
    ],
    ['draft-06 knows arrays of items', { $schema: DRAFT_06, ...tuple }, { pair: [1, 2] }, false],
    ['2019-09 knows arrays of items', { $schema: D2019, ...tuple }, { pair: [1, 2] }, false],
    ['2019-09 knows dependentRequired', { $schema: D2019, ...dependent }, { card: 1 }, false],
    [
      '2019-09 does not know prefixItems',
      { $schema: D2019, properties: { pair: { prefixItems: [{ type: 'string' }] } } },
      { pair: [1] },
      true,
    ],
    [
      '2019-09 knows $recursiveRef',
      { $schema: D2019, $recursiveAnchor: true, type: 'object', additionalProperties: { $recursiveRef: '#' } },
      { a: { b: 1 } },
      false,
    ],
    ['2020-12 knows prefixItems', { $schema: D2020, ...prefixed }, { pair: [1, 2] }, false],
    ['2020-12 with a #', { $schema: `${D2020}#`, ...prefixed }, { pair: [1, 2] }, false],
    ['2020-12 accepts what fits', { $schema: D2020, ...prefixed }, { pair: [1] }, true],
    [
      '2020-12 knows unevaluatedProperties',
      { $schema: D2020, allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      { a: 1, b: 2 },
      false,
    ],
    ['2020-12 is the default: prefixItems', prefixed, { pair: [1, 2] }, false],
    ['2020-12 is the default: dependentRequired', dependent, { card: 1 }, false],
    [
      '2020-12 is the default: $dynamicRef',
      { $dynamicAnchor: 'node', type: 'object', additionalProperties: { $dynamicRef: '#node' } },
      { a: { b: 1 } },
      false,
    ],
    ['no schema at all but {}', {}, { anything: [1, null] }, true],
    [
      'a $ref into $defs',
      { $defs: { n: { type: 'number' } }, properties: { a: { $ref: '#/$defs/n' } } },
      { a: 'x' },
      false,
    ],
    ['a $ref to the root', { properties: { child: { $ref: '#' } }, type: 'object' }, { child: { child: 1 } }, false],
    [
      'a $ref to the root, by its $id',
      { $id: 'https://a.invalid/tree', properties: { child: { $ref: '/tree' } }, type: 'object' },
      { child: { child: {} } },
      true,
    ],
    [
      'unknown keywords are ignored',
      { 'x-order': 1, properties: { a: { type: 'string', widget: 'date' } } },
      { a: 'x' },
      true,
    ],
    ['unknown formats are ignored', { properties: { a: { type: 'string', format: 'postcode' } } }, { a: 'x' }, true],
  ])('%s', async (_, schema, input, fits) => {
    const execution = await called(schema, input);
    expect([execution.status, execution.content]).toEqual(
      fits ? ['success', JSON.stringify(input)] : ['error', expect.stringMatching(/^Invalid tool input: \/\S* must/)],
    );
  });

  it.each<[string, string, string]>([
    ['email', 'ada@host.example', 'ada'],
    ['uri', 'https://host.example/a', 'host.example'],
    ['date', '2024-02-29', '2023-02-29'],
    ['date-time', '2024-02-29T10:00:00Z', '29.2.2024 10:00'],
    ['uuid', '7f0d9a8e-5a0f-4c7d-9d3d-0b6c2f1f4e11', '7f0d'],
    ['ipv4', '127.0.0.1', '127.0.0.256'],
  ])('the format %s is checked, in every dialect', async (format, good, bad) => {
    for (const $schema of [DRAFT_07, D2019, D2020]) {
      const schema = { $schema, properties: { a: { type: 'string', format } } };
      expect(await called(schema, { a: good })).toEqual(accepted({ a: good }));
      expect(await called(schema, { a: bad })).toEqual(
        refused(`Invalid tool input: /a must match format "${format}".`),
      );
    }
  });

  it('two schemas of one $id do not meet', async () => {
    const one = { $id: 'https://a.invalid/s', properties: { a: { type: 'string' } } };
    const two = { $id: 'https://a.invalid/s', properties: { a: { type: 'number' } } };
    expect(await called(one, { a: 'x' })).toEqual(accepted({ a: 'x' }));
    expect(await called(two, { a: 'x' })).toEqual(refused('Invalid tool input: /a must be number.'));
  });

  it("the validator's own $async changes nothing", async () => {
    const schema = { $async: true, properties: { a: { type: 'string' } } };
    expect(await called(schema, { a: 'x' })).toEqual(accepted({ a: 'x' }));
    expect(await called(schema, { a: 1 })).toEqual(refused('Invalid tool input: /a must be string.'));
  });

  it('the schema reaches the model as it was declared', async () => {
    const inputSchema = Object.freeze({ $schema: DRAFT_06, type: 'object', 'x-more': [1] });
    const registry = await registered(Tool.define({ name: 'a', description: 'b', inputSchema, call: () => 1 }));
    expect(registry.specifications).toEqual([{ name: 'a', description: 'b', inputSchema }]);
    expect(registry.specifications[0]?.inputSchema).toBe(inputSchema);
  });
});

it.each([1, 2, 4, 8, 16, 32, 64])('R41: a first schema that is broken off after %i ms spoils no other', (timeout) => {
  jest.isolateModules(() => {
    const { Tool: Fresh } = jest.requireActual<{ Tool: typeof Tool }>('mcp-toolset'); // which has judged nothing yet
    const define = () =>
      Fresh.define({ name: 'local', description: 'x', inputSchema: { type: 'object' }, call: () => 1 });
    const run = Script.prototype.runInContext;
    const busy = jest.spyOn(Script.prototype, 'runInContext');
    busy.mockImplementation(function (this: Script, context, options) {
      return run.call(this, context, { ...options, timeout }) as unknown;
    });
    try {
      define();
    } catch {
      // so it was broken off
    }
    busy.mockRestore();
    expect(define).not.toThrow();
  });
});
