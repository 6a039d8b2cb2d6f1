import { createTestServer, type TestServer } from 'mcp-toolset/testing';

/** A schema that some provider refuses as it is, and an input that it describes. */
export interface AwkwardSchema {
  readonly title: string;
  readonly schema: Record<string, unknown>;
  readonly input: Record<string, unknown>;
}

const text = { type: 'string' };
const number = { type: 'number' };
const row = (title: string, schema: Record<string, unknown>, input: Record<string, unknown>): AwkwardSchema => {
  return { title, schema, input };
};
const object = (properties: object, rest: object = {}): Record<string, unknown> => {
  return { type: 'object', properties, ...rest };
};

function nested(depth: number): Record<string, unknown> {
  let schema: Record<string, unknown> = text;
  for (let level = 0; level < depth; level += 1) schema = object({ inner: schema });
  return schema;
}

/** Definitions that each refer to the next one twice: written out they would be 2^40 schemas. */
const doubling = Object.fromEntries(
  Array.from({ length: 40 }, (_, index) => {
    const next = { $ref: `#/$defs/d${index + 1}` };
    return [`d${index}`, { allOf: [next, next], properties: { [`p${index}`]: text } }];
  }),
);

/** What real servers publish, and what a rude one may. */
export const awkwardSchemas: readonly AwkwardSchema[] = [
  row('no properties', { type: 'object' }, {}),
  row('no type', { properties: { a: text } }, { a: 'x' }),
  row('nothing at all', {}, { anything: 1 }),
  row('a type of several names', { type: ['object', 'null'], properties: { a: text } }, { a: 'x' }),
  row(
    'anyOf of requirements',
    object({ id: text, name: text }, { anyOf: [{ required: ['id'] }, { required: ['name'] }] }),
    {
      name: 'Ada',
    },
  ),
  row(
    'oneOf of objects with a discriminator',
    {
      oneOf: [
        object(
          { kind: { const: 'circle' }, radius: number },
          { required: ['kind', 'radius'], additionalProperties: false },
        ),
        object(
          { kind: { const: 'square' }, side: number },
          { required: ['kind', 'side'], additionalProperties: false },
        ),
      ],
    },
    { kind: 'square', side: 2 },
  ),
  row(
    'allOf of objects',
    { allOf: [object({ a: text }, { required: ['a'] }), object({ b: number }, { required: ['b'] })] },
    { a: 'x', b: 1 },
  ),
  row(
    'allOf with a condition',
    object({ a: text, b: text }, { allOf: [{ if: { required: ['a'] }, then: { required: ['b'] } }] }),
    { a: 'x', b: 'y' },
  ),
  row('anyOf with null', { anyOf: [object({ a: text }), { type: 'null' }] }, { a: 'x' }),
  row('anyOf with an open branch', { anyOf: [object({ a: text }, { required: ['a'] }), true, {}] }, { z: 1 }),
  row('not at the root', object({ a: text, b: text }, { not: { required: ['a', 'b'] } }), { a: 'x' }),
  row('enum at the root', { type: 'object', enum: [{ a: 1 }, { a: 2 }] }, { a: 2 }),
  row('an unknown $schema', object({ a: text }, { $schema: 'https://example.com/my-dialect' }), { a: 'x' }),
  row(
    'draft-07',
    object(
      { a: { $ref: '#/definitions/A' } },
      { $schema: 'http://json-schema.org/draft-07/schema#', definitions: { A: text } },
    ),
    {
      a: 'x',
    },
  ),
  row(
    'unknown formats',
    object({ a: { type: 'string', format: 'moon-phase' }, b: { type: 'integer', format: 'int64' } }),
    { a: 'full', b: 1 },
  ),
  row(
    'a reference at the root',
    { $ref: '#/$defs/Input', $defs: { Input: object({ a: text }, { required: ['a'] }) } },
    { a: 'x' },
  ),
  row(
    'a reference at the root, beside properties',
    {
      ...object({ b: number }),
      $ref: '#/definitions/Base',
      definitions: { Base: object({ a: text }, { required: ['a'] }) },
    },
    { a: 'x', b: 1 },
  ),
  row(
    'a reference at the root that leads to itself',
    { type: 'object', $ref: '#', properties: { a: text } },
    { a: 'x' },
  ),
  row(
    'references that lead nowhere',
    object({ a: { $ref: '#/$defs/Gone' }, b: { $ref: 'https://example.com/s.json' } }),
    { a: 1, b: 2 },
  ),
  row(
    'recursion through $defs',
    object(
      { tree: { $ref: '#/$defs/Node' } },
      { $defs: { Node: object({ children: { type: 'array', items: { $ref: '#/$defs/Node' } } }) } },
    ),
    { tree: { children: [{ children: [] }] } },
  ),
  row('recursion to the root', object({ value: text, next: { $ref: '#' } }), { value: 'a', next: { value: 'b' } }),
  row(
    'recursion by $id',
    object({ root: { $id: 'T0', ...object({ nodes: { type: 'array', items: { $ref: 'T0' } } }) } }),
    {
      root: { nodes: [{ nodes: [] }] },
    },
  ),
  row(
    'recursion through anyOf at the root',
    { anyOf: [object({ leaf: text }, { required: ['leaf'] }), object({ left: { $ref: '#' }, right: { $ref: '#' } })] },
    { left: { leaf: 'x' } },
  ),
  row(
    'references into a branch of the root',
    { ...object({ again: { $ref: '#/anyOf/0/properties/a' } }), anyOf: [object({ a: text })] },
    { a: 'x', again: 'y' },
  ),
  row(
    'parameters with the names of keywords',
    object(
      {
        type: text,
        properties: { type: 'object' },
        $ref: text,
        required: { type: 'boolean' },
        items: number,
        anyOf: text,
        $schema: text,
        enum: text,
      },
      { required: ['type', 'properties'] },
    ),
    { type: 'a', properties: { b: 1 }, $ref: '#/x', required: true, items: 3, anyOf: 'c', $schema: 'd', enum: 'e' },
  ),
  row(
    'parameters named __proto__ and constructor',
    object(JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"number"}}') as object),
    { constructor: 1 },
  ),
  row(
    'names that are no identifiers',
    object(
      {
        'filter[id]': text,
        '@type': text,
        $top: number,
        'a b': text,
        a_b: text,
        ä: text,
        '': text,
        ['x'.repeat(80)]: text,
      },
      { required: ['filter[id]', 'a b'] },
    ),
    {
      'filter[id]': '1',
      '@type': 't',
      $top: 3,
      'a b': 'p',
      a_b: 'q',
      ä: 'r',
      '': 's',
      ['x'.repeat(80)]: 'u',
    },
  ),
  row('boolean schemas', object({ any: true, none: false, list: { type: 'array', items: true } }), {
    any: [1],
    list: [1, 'x'],
  }),
  row('a schema of null', object({ a: null, b: { type: 'array', items: null } }), { a: 1, b: [2] }),
  row('what should be a schema and is a word', object({ a: text, type: 'object' }), { a: 'x', type: 'y' }),
  row('types that do not exist', object({ a: { type: 'any' }, b: { type: 'int' }, c: { type: ['string', 'date'] } }), {
    a: 1,
    b: 2,
    c: 'x',
  }),
  row(
    "draft-04's and draft-03's words",
    object(
      { a: { type: 'integer', minimum: 0, exclusiveMinimum: true }, b: { type: 'string', required: true } },
      { id: 'x' },
    ),
    { a: 1, b: 'y' },
  ),
  row("draft-07's tuples", object({ pair: { type: 'array', items: [text, number], additionalItems: false } }), {
    pair: ['a', 1],
  }),
  row('arrays without items', object({ list: { type: 'array' }, either: { type: ['array', 'null'] } }), {
    list: [1],
    either: null,
  }),
  row(
    'lists that are empty or say things twice',
    object({ a: { enum: [] }, b: { enum: ['x', 'x'] }, c: { anyOf: [] } }, { required: ['b', 'b', 7] }),
    { a: 1, b: 'x', c: 2 },
  ),
  row(
    'patterns that not every engine reads',
    object({
      a: { type: 'string', pattern: '^(?!undefined$)' },
      b: { type: 'string', pattern: '^\\p{L}+$' },
      c: { type: 'string', pattern: '[' },
    }),
    { a: 'x', b: 'é', c: '[' },
  ),
  row(
    'patternProperties and dependencies',
    object(
      { a: text },
      {
        patternProperties: { '^x-': text, '(?<=y)z': text },
        dependencies: { a: ['b'] },
        propertyNames: { maxLength: 40 },
      },
    ),
    { a: '1', b: '2', 'x-y': '3' },
  ),
  row(
    'patternProperties that not every engine reads, in an object that is closed beside them',
    object({ a: text }, { patternProperties: { '(?<=x)-': text }, additionalProperties: false, required: ['a'] }),
    { a: '1', 'x-y': '2' },
  ),
  row(
    'patternProperties that not every engine reads, beside a schema for all others',
    object({ a: object({}, { patternProperties: { '(?<=x)-': text }, additionalProperties: number }) }),
    { a: { 'x-y': '2', z: 3 } },
  ),
  row(
    'patternProperties that not every engine reads, in a part of an object that is closed as a whole',
    object({
      a: {
        ...object({ b: text }, { unevaluatedProperties: false }),
        allOf: [{ patternProperties: { '(?<=x)-': text } }],
      },
    }),
    { a: { b: '1', 'x-y': '2' } },
  ),
  row('lone surrogates', object({ a: { type: 'string', description: 'half \ud83d of a face' }, 'k\ud83d': text }), {
    a: 'x',
  }),
  row('sixty levels', nested(60), { inner: { inner: {} } }),
  row(
    'definitions that double each other',
    { $ref: '#/$defs/d0', $defs: { ...doubling, d40: object({ end: text }) } },
    { p0: 'x' },
  ),
  row('a long description', { ...object({ a: text }), description: 'word '.repeat(1_000) }, { a: 'x' }),
  row(
    'one closed object, all required',
    object({ a: text, b: { type: 'array', items: text } }, { required: ['a', 'b'], additionalProperties: false }),
    { a: 'x', b: ['y'] },
  ),
];

/** The name of the tool that has a schema. */
export const toolOf = (schema: AwkwardSchema): string => `tool_${awkwardSchemas.indexOf(schema)}`;

/** The SDK's server in memory, with a tool for each schema, which remembers what it was called with. */
export function awkwardServer(): TestServer {
  return createTestServer({
    tools: Object.fromEntries(
      awkwardSchemas.map((awkward) => [
        toolOf(awkward),
        { description: `A tool: ${awkward.title}.`, inputSchema: awkward.schema, call: () => 'done' },
      ]),
    ),
  });
}

/** An input as a model writes it that has seen a fitted schema: by the names that stand there. */
export function asSeen(fitted: Record<string, unknown>, input: Record<string, unknown>): Record<string, unknown> {
  const properties = Object.entries(fitted.properties as Record<string, { description?: string }>);
  const nameOf = (key: string): string => {
    const renamed = properties.find(([, { description }]) => description?.includes(`Called ${JSON.stringify(key)} by`));
    return renamed?.[0] ?? key;
  };
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [nameOf(key), value]));
}
