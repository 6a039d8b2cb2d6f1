import { Ajv2020 } from 'ajv/dist/2020';
import type { JsonSchema } from 'mcp-toolset';
import { anthropicTools } from 'mcp-toolset/anthropic';
import { createTestServer } from 'mcp-toolset/testing';
import { adapterRun, closeAfterEach } from './adapter-run';

closeAfterEach();

const text = { type: 'string' };
const number = { type: 'number' };

/** What a model is told of a tool whose schema a server published. */
async function fitted(inputSchema: JsonSchema): Promise<{ schema: unknown; description: string }> {
  const server = createTestServer({ tools: { it: { description: 'A tool.', inputSchema, call: () => '' } } });
  const { tools } = await adapterRun({ server });
  const [tool] = anthropicTools(tools);
  return { schema: tool?.input_schema, description: tool?.description ?? '' };
}

it('R14: leaves a schema that fits as it is', async () => {
  const schema = {
    type: 'object',
    title: 'Search',
    description: 'What to look for.',
    properties: {
      q: { type: 'string', minLength: 1, pattern: '^[a-z]+$', examples: ['x'], default: 'y' },
      page: { type: 'integer', minimum: 1, exclusiveMaximum: 10 },
      filter: { anyOf: [{ $ref: '#/$defs/Filter' }, { type: 'null' }] },
      'x-unknown.name': { 'x-extension': { type: 7 } },
    },
    required: ['q'],
    additionalProperties: false,
    minProperties: 1,
    $defs: { Filter: { type: 'object', properties: { all: { type: 'array', items: { $ref: '#/$defs/Filter' } } } } },
  };
  expect(await fitted(schema)).toEqual({ schema, description: 'A tool.' });
});

it('merges the branches of the root, requires what all of them require, and tells the rest', async () => {
  const anyOf = [
    { type: 'object', properties: { kind: { const: 'a' }, x: text }, required: ['kind', 'x'] },
    { type: 'object', properties: { kind: { const: 'b' }, x: text, y: number }, required: ['kind'] },
  ];
  expect(await fitted({ properties: { z: text }, anyOf })).toEqual({
    schema: {
      type: 'object',
      properties: { z: text, kind: { anyOf: [{ const: 'a' }, { const: 'b' }] }, x: text, y: number },
      required: ['kind'],
    },
    description: `A tool.\nThe input must match at least one of ${JSON.stringify(anyOf)}.`,
  });
});

it('merges what all of the root requires, through references', async () => {
  const $defs = { Base: { type: 'object', properties: { id: text }, required: ['id'] } };
  const schema = { allOf: [{ $ref: '#/$defs/Base' }, { properties: { n: number }, required: ['n'] }], $defs };
  expect(await fitted(schema)).toEqual({
    schema: { type: 'object', properties: { id: text, n: number }, required: ['id', 'n'], $defs },
    description: 'A tool.',
  });
  expect(await fitted({ $ref: '#/$defs/Base', $defs, description: 'Whom.' })).toEqual({
    schema: { type: 'object', description: 'Whom.', properties: { id: text }, required: ['id'], $defs },
    description: 'A tool.',
  });
});

it('allows anything of a property of which one branch allows anything', async () => {
  const oneOf = [{ properties: { a: text } }, { properties: { a: {}, b: text } }, { properties: { b: text } }];
  expect((await fitted({ oneOf })).schema).toEqual({ type: 'object', properties: { a: {}, b: text } });
});

it('does not shut out what a branch has beside its properties', async () => {
  const schema = { allOf: [{ patternProperties: { '^x-': text } }], unevaluatedProperties: false };
  expect((await fitted(schema)).schema).toEqual({ type: 'object', properties: {} });
});

it('tells what cannot stand at the root, at no more length than is read', async () => {
  const { description } = await fitted({ not: { required: ['a'] }, enum: ['x'.repeat(5_000)], const: 1 });
  expect(description).toMatch(
    /^A tool\.\nThe input must not match \{"required":\["a"\]\}\. The input must be one of \["xx+…$/,
  );
  expect(description.length).toBeLessThan(2_100);
});

it('writes older drafts in the words of 2020-12', async () => {
  const { schema } = await fitted({
    $schema: 'http://json-schema.org/draft-04/schema#',
    id: 'http://example.com/root.json',
    properties: {
      a: { type: 'integer', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
      b: { type: 'array', items: [text, number], additionalItems: text },
      c: { type: ['any', 'string'], enum: ['x', 'x'], required: true },
    },
  });
  expect(schema).toEqual({
    type: 'object',
    properties: {
      a: { type: 'integer', exclusiveMinimum: 0, maximum: 9 },
      b: { type: 'array', prefixItems: [text, number], items: text },
      c: { type: ['string'], enum: ['x'] },
    },
  });
});

it('tells a pattern in words where not every engine reads it', async () => {
  const { schema } = await fitted({ properties: { a: { ...text, pattern: '^(?!x)', description: 'An id.' } } });
  expect(schema).toMatchObject({
    properties: { a: { type: 'string', description: 'An id. Has to match the regular expression ^(?!x)' } },
  });
});

it('renames the parameters that the API refuses, and says what they are called', async () => {
  const { schema } = await fitted({
    properties: { 'filter[id]': { ...text, description: 'Whose.' }, filter_id_: number, ok: text },
    required: ['filter[id]', 'ok'],
  });
  const { properties, required } = schema as { properties: Record<string, unknown>; required: string[] };
  const [renamed = ''] = Object.keys(properties);
  expect(renamed).toMatch(/^filter_id__[0-9a-f]{12}$/);
  expect(properties).toEqual({
    [renamed]: { type: 'string', description: 'Whose. Called "filter[id]" by the tool.' },
    filter_id_: number,
    ok: text,
  });
  expect(required).toEqual([renamed, 'ok']);
});

it('R18: keeps a parameter named __proto__, and nothing of it reaches a prototype', async () => {
  const properties = JSON.parse(
    '{"__proto__":{"type":"string","polluted":true},"constructor":{"type":"number"}}',
  ) as object;
  const { schema } = await fitted({ anyOf: [{ properties }] });
  expect(JSON.stringify(schema)).toContain('"__proto__":{"type":"string"');
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

it('ends with hostile schemas: wide, deep through references, and in circles', async () => {
  const count = 2_000;
  const wide = Array.from({ length: count }, (_, index) => ({
    allOf: [{ $ref: '#/$defs/all' }],
    required: [`p${index}`],
  }));
  const all = { properties: Object.fromEntries(wide.map((_, index) => [`p${index}`, text])) };
  const chain = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `c${index}`,
      { $ref: `#/$defs/c${(index + 1) % count}`, properties: { [`q${index}`]: text } },
    ]),
  );
  const closed = { additionalProperties: false };
  const { schema } = await fitted({ ...closed, anyOf: [...wide, { $ref: '#/$defs/c0' }], $defs: { all, ...chain } });
  expect(schema).toMatchObject({ type: 'object', properties: {} });
  expect(Object.keys(schema as object)).not.toContain('additionalProperties');
});

const LOST = { type: 'string', pattern: '^(?=x)' };
const named = (name: string, schema: unknown) => ({ properties: { [name]: schema }, required: [name] });

it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['not', { not: LOST }, { a: 'y' }],
  ['not, deep', { not: { anyOf: [{ type: 'number' }, { allOf: [LOST] }] } }, { a: 'y' }],
  ['not, twice', { not: { not: { not: LOST } } }, { a: 'y' }],
  ['not, by a reference', { not: { $ref: '#/$defs/Lost' } }, { a: 'y' }],
  ['not, of what is no schema', { not: { type: 'string', anyOf: [7], minLength: 9 } }, { a: 3 }],
  ['if and then', { if: LOST, then: { const: 'x' } }, { a: 'y' }],
  ['if and else', { if: { not: LOST }, else: { const: 'x' } }, { a: 'y' }],
  ['oneOf', { oneOf: [LOST, { const: 'y' }] }, { a: 'y' }],
  ['oneOf beside anyOf', { oneOf: [LOST, { const: 'y' }], anyOf: [{ const: 'y' }] }, { a: 'y' }],
  ['the most of contains', { type: 'array', contains: LOST, maxContains: 1, minContains: 0 }, { a: ['y', 'y'] }],
  [
    'unevaluatedProperties',
    {
      if: { required: ['b'], properties: { b: LOST } },
      then: {},
      else: { properties: { b: {} } },
      unevaluatedProperties: false,
    },
    { a: { b: 'y' } },
  ],
])('allows no less where something cannot be said under %s', async (_, schema, input) => {
  const { schema: copy } = await fitted({ type: 'object', properties: { a: schema }, $defs: { Lost: LOST } });
  expect([new Ajv2020({ strict: false, logger: false }).validate(copy as object, input), copy]).toEqual([true, copy]);
});

it('allows no less where the root allows more, or a name is another', async () => {
  const one = {
    type: 'object',
    properties: { not: { not: { $ref: '#' } } },
    oneOf: [named('a', text), named('b', text)],
  };
  const { schema: root } = await fitted(one);
  expect(new Ajv2020({ strict: false }).validate(root as object, { a: 'x', not: { a: 'x', b: 'x' } })).toBe(true);
  const other = { properties: { 'a[b]': text, c: text }, if: { required: ['a[b]'] }, else: { required: ['c'] } };
  const { schema: renamed } = await fitted({ type: 'object', ...other, patternProperties: { '^a_': number } });
  const [name = ''] = Object.keys((renamed as { properties: object }).properties);
  expect(new Ajv2020({ strict: false }).validate(renamed as object, { [name]: 'x' })).toBe(true);
});

describe('whatever a schema says', () => {
  /** Numbers that look like chance and are the same every time. */
  let seed = 1;
  const upTo = (max: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % max;
  };
  const pick = (...choices: unknown[]): unknown => choices[upTo(choices.length)];
  const some = <T>(list: readonly T[]): T[] => list.filter(() => upTo(2) === 0);
  const names = ['a', 'b', 'c'];
  const schemas = Array.from({ length: 120 }, () => ({ ...schemaOf(3), $defs: { D: branch(1), E: branch(1) } }));
  const inputs = Array.from({ length: 60 }, () => valueOf(2));

  function property(depth: number): unknown {
    return depth > 0 && upTo(3) === 0
      ? schemaOf(depth - 1)
      : pick(text, number, {}, true, { const: 1 }, { enum: ['x', 1] }, { pattern: '^(?=y)' });
  }

  /** An alternative that describes all that it takes. */
  function branch(depth: number): object {
    const properties = Object.fromEntries(some(names).map((name) => [name, property(depth - 1)]));
    return { type: 'object', properties, required: some(Object.keys(properties)), additionalProperties: false };
  }

  function schemaOf(depth: number): object {
    const part = (): unknown =>
      depth > 0 ? pick(branch(depth), schemaOf(depth - 1), { $ref: '#/$defs/D' }) : branch(0);
    const parts: [string, () => unknown][] = [
      ['type', () => pick('object', ['object', 'string'])],
      ['properties', () => Object.fromEntries(some(names).map((name) => [name, property(depth)]))],
      ['required', () => some(names)],
      ['additionalProperties', () => pick(false, text)],
      ['unevaluatedProperties', () => false],
      ['patternProperties', () => ({ [String(pick('^[ab]$', '^(?!c)'))]: property(depth) })],
      ['anyOf', () => [branch(depth), branch(depth), { $ref: '#/$defs/D' }]],
      ['oneOf', () => [branch(depth), branch(depth)]],
      ['allOf', () => [part(), part()]],
      ['not', () => part()],
      ['if', () => part()],
      ['then', () => part()],
      ['else', () => part()],
      ['$ref', () => pick('#/$defs/D', '#/$defs/E')],
      ['dependentRequired', () => ({ a: ['b'] })],
      ['enum', () => [{}, { a: 'x' }, 'x']],
    ];
    return Object.fromEntries(parts.filter(() => upTo(6) === 0).map(([key, value]) => [key, value()]));
  }

  function valueOf(depth: number): unknown {
    return depth === 0 ? pick('x', 1, {}) : Object.fromEntries(some(names).map((name) => [name, valueOf(depth - 1)]));
  }

  /** Undefined where references turn in circles over one value. */
  function checkOf(schema: object): (value: unknown) => boolean | undefined {
    const validate = new Ajv2020({ strict: false, logger: false }).compile(schema);
    return (value) => {
      try {
        return validate(value);
      } catch {
        return undefined;
      }
    };
  }

  it('the copy takes every input that the original describes', async () => {
    const tool = { description: 'x', call: () => '' };
    const published = schemas.map((inputSchema, index) => [`t${index}`, { ...tool, inputSchema }] as const);
    const { tools } = await adapterRun({ server: createTestServer({ tools: Object.fromEntries(published) }) });
    const faults: string[] = [];
    let taken = 0;
    for (const [index, { input_schema }] of anthropicTools(tools).entries()) {
      const original = checkOf(schemas[index] ?? {});
      const copy = checkOf(input_schema);
      for (const input of inputs.filter((candidate) => original(candidate) === true)) {
        taken += 1;
        if (copy(input) === false) faults.push(JSON.stringify({ original: schemas[index], copy: input_schema, input }));
      }
    }
    expect(faults.slice(0, 3)).toEqual([]);
    expect(taken).toBeGreaterThan(200);
  });
});
