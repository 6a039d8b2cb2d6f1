import {
  MapTool,
  McpToolset,
  ProtocolError,
  ToolError,
  type McpToolClass,
  type ToolCallContext,
  type ToolExecution,
} from 'mcp-toolset';
import { everythingStdio, startRawHttp, text, tool, type JsonObject } from '../servers';
import { answering, closeAfterEach, executionOf, serve, toolsetOf, type Answered } from './served-tools';

closeAfterEach();

const IMAGE = { type: 'image', data: 'AAEC', mimeType: 'image/png' };
const DRAFT_06 = 'http://json-schema.org/draft-06/schema#';
const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const DRAFT_2019 = 'https://json-schema.org/draft/2019-09/schema';
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';
const SHAPE = 'Tool failed (ProtocolError). The tool ran, but it answered in another shape than it declares.';

function checked(structuredContent: unknown, outputSchema: unknown, options: Answered = {}): Promise<ToolExecution> {
  return executionOf({ structuredContent, content: [] }, { ...options, definition: { outputSchema } });
}

async function accepts(outputSchema: JsonObject, value: unknown): Promise<boolean> {
  const { call, warnings } = await answering(
    { structuredContent: value, content: [] },
    { definition: { outputSchema } },
  );
  const { error } = await call();
  expect(warnings).toEqual([]);
  expect(error === undefined || error instanceof ProtocolError).toBe(true);
  return error === undefined;
}

describe('R24: a declared outputSchema is checked', () => {
  const total = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] };

  it('lets a result through that fits', async () => {
    expect(await checked({ total: 5 }, total)).toMatchObject({ status: 'success', value: { total: 5 } });
  });

  it.each<[string, unknown, RegExp]>([
    ['a mismatch', { total: 'five' }, /\/total must be number/],
    ['a missing property', {}, /must have required property 'total'/],
    ['another type', [5], /must be object/],
    ['null', null, /must be object/],
    ['a missing structuredContent', undefined, /structuredContent is missing/],
  ])('makes a ProtocolError of %s', async (_what, structuredContent, fault) => {
    const execution = await checked(structuredContent, total);
    expect(execution).toMatchObject({ status: 'error', content: SHAPE });
    expect(execution.error).toBeInstanceOf(ProtocolError);
    expect(execution.error).toMatchObject({
      outcome: 'completed',
      toolset: 'served',
      message: expect.stringMatching(/Toolset served, tool "answer"/),
    });
    expect((execution.error as Error).message).toMatch(fault);
  });

  it('tells what the tool said, and keeps value and artifacts', async () => {
    const embedded = { type: 'resource', resource: { uri: 'file:///a', text: 'embedded' } };
    const link = { type: 'resource_link', uri: 'https://docs.example/1', name: 'one' };
    const content = [{ type: 'text', text: 'five euros' }, IMAGE, embedded, link];
    const result = { structuredContent: { total: 'five\ud800' }, content };
    const execution = await executionOf(result, { definition: { outputSchema: total } });
    expect(execution.content).toBe(`${SHAPE} It said: five euros\nembedded\none: https://docs.example/1`);
    expect(execution.value).toEqual({ total: 'five\ufffd' });
    expect(execution.artifacts).toMatchObject([{ mediaType: 'image/png' }]);
  });

  it('keeps the text as the value where structuredContent is missing', async () => {
    const execution = await executionOf(text('five\ud800'), { definition: { outputSchema: total } });
    expect(execution).toMatchObject({ status: 'error', value: 'five\ufffd', content: `${SHAPE} It said: five\ufffd` });
  });

  it('lets a subclass of the generated class say it otherwise', async () => {
    const server = await startRawHttp({ tools: [tool('answer', { outputSchema: total })] });

    @McpToolset()
    class KindTools extends toolsetOf(server.connection) {
      @MapTool()
      wrap(generated: McpToolClass) {
        return class Kind extends generated {
          override async call(input: Record<string, unknown>, context: ToolCallContext) {
            try {
              return await super.call(input, context);
            } catch (cause) {
              throw new ToolError('Try again tomorrow.', { cause });
            }
          }
        };
      }
    }

    const execution = await (await serve(KindTools)).call({ q: 1 });
    expect(execution).toMatchObject({ status: 'error', content: 'Try again tomorrow.', value: '{"q":1}' });
    expect((execution.error as ToolError).cause).toBeInstanceOf(ProtocolError);
  });

  it('does not show @MapResult a result of another shape', async () => {
    const mapResult = jest.fn();
    await checked({}, total, { mapResult });
    expect(mapResult).not.toHaveBeenCalled();
  });

  it('bounds what the error repeats of the result', async () => {
    const strict = { type: 'object', additionalProperties: false };
    const long = 'k'.repeat(100_000);
    const one = await checked({ [long]: 1 }, strict);
    expect((one.error as Error).message.length).toBeLessThan(1_000);
    const many = await checked(Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`key${n}`, n])), strict);
    expect((many.error as Error).message).toMatch(/must NOT have additional properties \("key0"\)\.$/);
  });

  it.each([undefined, null])('checks nothing where it is %p', async (outputSchema) => {
    expect(await checked({ any: 1 }, outputSchema)).toMatchObject({ status: 'success' });
    expect(await executionOf(text('x'), { definition: { outputSchema } })).toMatchObject({ status: 'success' });
  });

  it('checks each tool by its own, also where they have one $id', async () => {
    const $id = 'https://schemas.example/result';
    const schemaOf = (type: string): JsonObject => ({ $id, $ref: '#/$defs/it', $defs: { it: { type } } });
    const server = await startRawHttp({
      tools: [tool('a', { outputSchema: schemaOf('string') }), tool('b', { outputSchema: schemaOf('number') })],
      call: ({ arguments: input }) => ({ structuredContent: input?.value, content: [] }),
    });
    const { call, warnings } = await serve(toolsetOf(server.connection));
    const statuses = [];
    for (const value of ['word', 5]) {
      for (const name of ['a', 'b']) statuses.push((await call({ value }, name)).status);
    }
    expect(statuses).toEqual(['success', 'error', 'error', 'success']);
    expect(warnings).toEqual([]);
  });

  it('compiles it at the first call, not at discovery, and once', async () => {
    const broken = { type: 'object', properties: { a: { type: 'nonsense' } } };
    const { call, warnings } = await answering(
      { structuredContent: { a: 1 } },
      { definition: { outputSchema: broken } },
    );
    expect(warnings).toEqual([]);
    expect(await call()).toMatchObject({ status: 'success', value: { a: 1 } });
    expect(warnings).toEqual([expect.stringMatching(/served, tool "answer": its outputSchema cannot be used/)]);
    await call();
    expect(warnings).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ['no object', 'object'],
    ['an array', [{ type: 'object' }]],
    ['true', true],
    ['a number', 5],
    ['of an unknown type', { type: 'thing' }],
    ['a $ref that leads nowhere', { $ref: '#/$defs/missing' }],
    ['a $ref to another document', { $ref: 'https://schemas.example/other.json' }],
    ['a pattern that is none', { type: 'object', properties: { a: { type: 'string', pattern: '[' } } }],
    ['a patternProperties that is none', { type: 'object', patternProperties: { '(': {} } }],
    ['a keyword of the wrong type', { required: 'total' }],
    ['a dialect that is not known', { $schema: 'http://json-schema.org/draft-04/schema#' }],
    ['a $schema that is no string', { $schema: 5 }],
    ['one $id used twice', { $defs: { a: { $id: 'x:a', type: 'object' }, b: { $id: 'x:a', type: 'string' } } }],
    ['asynchronous inside', { properties: { a: { $async: true, type: 'string' } } }],
  ])('warns of one that cannot be used: %s, and only that tool goes unchecked', async (_what, outputSchema) => {
    const server = await startRawHttp({
      tools: [tool('odd', { outputSchema }), tool('checked', { outputSchema: total })],
      call: () => ({ structuredContent: { a: 'x' }, content: [] }),
    });
    const { call, warnings } = await serve(toolsetOf(server.connection));
    expect(warnings).toEqual([]);
    expect(await call({}, 'odd')).toMatchObject({ status: 'success', value: { a: 'x' } });
    expect(warnings).toEqual([expect.stringContaining('tool "odd"')]);
    expect(await call({}, 'checked')).toMatchObject({ status: 'error' });
    expect(warnings).toHaveLength(1);
  });

  it('never fetches what a $ref names', async () => {
    const other = await startRawHttp();
    const { call, warnings } = await answering(
      { structuredContent: {} },
      { definition: { outputSchema: { $ref: `${other.url}/schema.json` } } },
    );
    await call();
    expect(warnings).toHaveLength(1);
    expect(other.requests).toEqual([]);
  });

  it.each<[string, unknown, JsonObject, unknown, boolean]>([
    ['prefixItems in 2020-12', DRAFT_2020, { prefixItems: [{ type: 'string' }] }, [5], false],
    ['prefixItems by default', undefined, { prefixItems: [{ type: 'string' }] }, [5], false],
    ['prefixItems in draft-07, where they are unknown', DRAFT_07, { prefixItems: [{ type: 'string' }] }, [5], true],
    ['a list of items in draft-07', DRAFT_07, { items: [{ type: 'string' }] }, [5], false],
    ['a list of items in draft-06', DRAFT_06, { items: [{ type: 'string' }] }, [5], false],
    ['a list of items in 2019-09', DRAFT_2019, { items: [{ type: 'string' }] }, [5], false],
    ['items after prefixItems', DRAFT_2020, { prefixItems: [{}], items: { type: 'string' } }, [1, 2], false],
    ['dependentRequired', DRAFT_2020, { dependentRequired: { a: ['b'] } }, { a: 1 }, false],
    ['dependencies in draft-07', DRAFT_07, { dependencies: { a: ['b'] } }, { a: 1 }, false],
    ['what stands beside a $ref in 2020-12', undefined, { $ref: '#/$defs/n', minimum: 5, $defs: { n: {} } }, 1, false],
    ['a $ref to the root', undefined, { properties: { child: { $ref: '#' } }, type: 'object' }, { child: 1 }, false],
    ['unevaluatedProperties', undefined, { properties: { a: {} }, unevaluatedProperties: false }, { b: 1 }, false],
    [
      '$dynamicRef',
      undefined,
      { $dynamicRef: '#n', $defs: { n: { $dynamicAnchor: 'n', type: 'number' } } },
      'x',
      false,
    ],
    [
      'definitions in draft-07',
      DRAFT_07,
      { $ref: '#/definitions/n', definitions: { n: { type: 'number' } } },
      'x',
      false,
    ],
    ['a draft-07 without its #', DRAFT_07.slice(0, -1), { items: [{ type: 'string' }] }, [5], false],
    ['a draft-07 by https', DRAFT_07.replace('http:', 'https:'), { items: [{ type: 'string' }] }, [5], false],
    ['a 2020-12 with a #', `${DRAFT_2020}#`, { prefixItems: [{ type: 'string' }] }, [5], false],
    ['a 2020-12 by http', DRAFT_2020.replace('https:', 'http:'), { prefixItems: [{ type: 'string' }] }, [5], false],
  ])('knows the dialects: %s', async (_what, $schema, schema, value, fits) => {
    expect(await accepts({ ...($schema !== undefined && { $schema }), ...schema }, value)).toBe(fits);
  });

  it.each<[string, JsonObject, unknown, boolean]>([
    ['an absent property named constructor', { properties: { constructor: { type: 'string' } } }, {}, true],
    ['a property named constructor', { properties: { constructor: { type: 'string' } } }, { constructor: 5 }, false],
    ['a required property named toString', { required: ['toString'] }, {}, false],
    ['a present one', { required: ['toString'] }, { toString: 1 }, true],
    ['a dependency of valueOf', { dependentRequired: { valueOf: ['b'] } }, {}, true],
    ['a number at the root', { type: 'number' }, 5, true],
    ['a string at the root', { type: 'string' }, 5, false],
    ['null at the root', { type: 'object' }, {}, true],
    ['unknown keywords', { 'x-ui': 1, type: 'object' }, {}, true],
    ['an unknown format', { format: 'x-odd' }, 'a', true],
    ['a known format', { format: 'date' }, '2024-02-30', false],
    ['boolean sub-schemas', { properties: { a: true, b: false } }, { b: 1 }, false],
  ])('judges by the JSON Schema: %s', async (_what, schema, value, fits) => {
    expect(await accepts(schema, value)).toBe(fits);
  });

  it('judges the JSON value null, where there is no content', async () => {
    expect(await accepts({ type: 'null' }, null)).toBe(true);
  });

  it('takes $async, which is no keyword of JSON Schema, for none', async () => {
    expect(await accepts({ $async: true, type: 'object', required: ['x'] }, {})).toBe(false);
    expect(await accepts({ $async: true, type: 'object' }, {})).toBe(true);
  });

  const nested = (keyword: string, levels: number): JsonObject => ({
    $ref: '#/$defs/n0',
    $defs: Object.fromEntries(
      Array.from({ length: levels }, (_, n) => {
        const next = n + 1 < levels ? { $ref: `#/$defs/n${n + 1}` } : { type: 'string' };
        return [`n${n}`, { [keyword]: [next, next] }];
      }),
    ),
  });

  it.each<[string, JsonObject, unknown]>([
    ['a pattern that backtracks', { pattern: '^(a+)+$' }, `${'a'.repeat(60)}!`],
    ['a property name that does', { patternProperties: { '^(a+)+$': {} } }, { [`${'a'.repeat(60)}!`]: 1 }],
    ['references that double at each level', nested('anyOf', 40), 5],
  ])('gives up on %s, which would never end, and says so', async (_what, schema, value) => {
    const { call, warnings } = await answering(
      { structuredContent: value, content: [{ type: 'text', text: 'aaa' }, IMAGE] },
      { definition: { outputSchema: schema } },
    );
    const execution = await call();
    expect(execution).toMatchObject({
      status: 'error',
      value,
      content: expect.stringMatching(/^Tool failed \(ProtocolError\)\..* It said: aaa$/),
      error: { outcome: 'completed', message: expect.stringMatching(/cannot be checked/) },
    });
    expect(execution.artifacts).toHaveLength(1);
    expect(warnings).toEqual([]);
  });

  it('checks the next result after it gave up on one', async () => {
    const server = await startRawHttp({
      tools: [tool('answer', { outputSchema: { pattern: '^(a+)+$' } })],
      call: ({ arguments: input }) => ({ structuredContent: input?.value, content: [] }),
    });
    const { call } = await serve(toolsetOf(server.connection));
    expect(await call({ value: `${'a'.repeat(60)}!` })).toMatchObject({ status: 'error' });
    expect(await call({ value: 'aaa' })).toMatchObject({ status: 'success' });
    expect(await call({ value: 'b' })).toMatchObject({
      error: { message: expect.stringMatching(/must match pattern/) },
    });
  });

  it('gives up on a value that is too deep for a schema that refers to itself', async () => {
    const levels = 200_000;
    const deep = `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const outputSchema = { $ref: '#/$defs/list', $defs: { list: { type: 'array', items: { $ref: '#/$defs/list' } } } };
    const result = `{"structuredContent":${deep},"content":[{"type":"text","text":"deep"}]}`;
    const execution = await executionOf(result, { definition: { outputSchema }, unbounded: true });
    expect(execution.error).toBeInstanceOf(ProtocolError);
    expect(execution.error).toMatchObject({ outcome: 'completed' });
    expect(execution.content).toMatch(/It said: deep$/);
    expect(Array.isArray(execution.value)).toBe(true);
  });

  it('checks what the reference server declares', async () => {
    const { call } = await serve(toolsetOf(everythingStdio()));
    const execution = await call({ location: 'Chicago' }, 'get-structured-content');
    expect(execution).toMatchObject({ status: 'success', value: { conditions: expect.any(String) } });
  });
});
