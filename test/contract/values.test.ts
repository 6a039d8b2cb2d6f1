import { McpToolset, type ToolExecution } from 'mcp-toolset';
import { createTestServer, overrideClient } from 'mcp-toolset/testing';
import { container } from 'tsyringe';
import { everythingStdio, rawStdio, text, tool, type JsonObject } from '../servers';
import { answering, closeAfterEach, executionOf, serve, serveIn, toolsetOf } from './served-tools';

closeAfterEach();

const TEXT = { type: 'text', text: 'hello' };
const MORE_TEXT = { type: 'text', text: 'world' };
const EMPTY_TEXT = { type: 'text', text: '' };
const EMBEDDED = { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'embedded' } };
const LINK = { type: 'resource_link', uri: 'https://docs.example/1', name: 'one' };
const TITLED_LINK = { ...LINK, title: 'The first', description: 'Read this.' };
const BARE_LINK = { type: 'resource_link', uri: 'https://docs.example/2' };
const IMAGE = { type: 'image', data: 'AAEC', mimeType: 'image/png' };
const AUDIO = { type: 'audio', data: 'AAE=', mimeType: 'audio/wav' };
const BLOB = { type: 'resource', resource: { uri: 'file:///b/c.pdf', mimeType: 'application/pdf', blob: 'AA==' } };
const UNKNOWN = { type: 'hologram', depth: 3 };
const STRUCTURED = { rows: [1, 2] };

const IMAGE_SUMMARY = { images: [{ mediaType: 'image/png', name: 'image-1', bytes: 3 }] };
const FALLBACK = 'The tool reported an error without saying which.';

describe('R20: the default value of a result', () => {
  it.each<[string, JsonObject, unknown]>([
    ['an object', { structuredContent: STRUCTURED, content: [TEXT] }, STRUCTURED],
    ['an empty object', { structuredContent: {}, content: [TEXT] }, {}],
    ['an array', { structuredContent: [1, 'a'], content: [TEXT] }, [1, 'a']],
    ['an empty array', { structuredContent: [], content: [TEXT] }, []],
    ['a string', { structuredContent: 'word', content: [TEXT] }, 'word'],
    ['an empty string', { structuredContent: '', content: [TEXT] }, ''],
    ['a number', { structuredContent: 0, content: [TEXT] }, 0],
    ['true', { structuredContent: true, content: [TEXT] }, true],
    ['false', { structuredContent: false, content: [TEXT] }, false],
    ['an object beside media', { structuredContent: STRUCTURED, content: [IMAGE] }, STRUCTURED],
    ['an object without content', { structuredContent: STRUCTURED }, STRUCTURED],
    ['an object with content null', { structuredContent: STRUCTURED, content: null }, STRUCTURED],
    ['null without content', { structuredContent: null }, null],
    ['null with empty content', { structuredContent: null, content: [] }, null],
    ['null with content null', { structuredContent: null, content: null }, null],
  ])('is structuredContent where that is %s', async (_what, result, value) => {
    const execution = await executionOf(result);
    expect(execution).toMatchObject({ status: 'success', value });
    expect(execution.value).toEqual(value);
    expect(execution.content).toBe(typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value));
  });

  it.each<[string, unknown[], string]>([
    ['one text', [TEXT], 'hello'],
    ['texts', [TEXT, MORE_TEXT], 'hello\nworld'],
    ['an empty text between others', [TEXT, EMPTY_TEXT, MORE_TEXT], 'hello\n\nworld'],
    ['an empty text alone', [EMPTY_TEXT], ''],
    ['an embedded text alone', [EMBEDDED], 'embedded'],
    ['an embedded text before a text', [EMBEDDED, TEXT], 'hello\nembedded'],
    ['a link before a text', [LINK, TEXT], 'hello\none: https://docs.example/1'],
    ['a link with an embedded text', [LINK, EMBEDDED], 'embedded\none: https://docs.example/1'],
    [
      'everything that has a text',
      [TITLED_LINK, EMBEDDED, TEXT, BARE_LINK, MORE_TEXT],
      'hello\nworld\nembedded\nThe first: https://docs.example/1 (Read this.)\nhttps://docs.example/2',
    ],
    ['text with media', [IMAGE, TEXT, AUDIO, BLOB], 'hello'],
    ['nothing', [], ''],
  ])('is a text for %s', async (_what, content, value) => {
    expect(await executionOf({ content })).toMatchObject({ status: 'success', value, content: value });
  });

  it('prefers text to structuredContent null', async () => {
    expect((await executionOf({ structuredContent: null, content: [TEXT] })).value).toBe('hello');
    expect((await executionOf({ structuredContent: null, content: [IMAGE] })).value).toEqual(IMAGE_SUMMARY);
  });

  it('keeps a link on one line, whatever is in it', async () => {
    const link = { ...LINK, title: 'two\nlines', description: 'and\r\nmore' };
    expect((await executionOf({ content: [TEXT, link, BARE_LINK] })).value).toBe(
      'hello\ntwo lines: https://docs.example/1 (and more)\nhttps://docs.example/2',
    );
  });

  it.each<[string, unknown[], unknown[]]>([
    ['links', [TITLED_LINK, BARE_LINK], [TITLED_LINK, BARE_LINK]],
    ['an unknown block', [UNKNOWN], [UNKNOWN]],
    ['links and unknown blocks, in order', [UNKNOWN, LINK, UNKNOWN], [UNKNOWN, LINK, UNKNOWN]],
    ['a link beside media', [IMAGE, LINK], [LINK]],
    ['a link beside an empty text', [EMPTY_TEXT, LINK], [LINK]],
  ])('is the blocks as they came for %s', async (_what, content, value) => {
    const execution = await executionOf({ content });
    expect(execution).toMatchObject({ status: 'success', content: JSON.stringify(value) });
    expect(execution.value).toEqual(value);
  });

  it.each<[string, unknown[], unknown]>([
    ['an image', [IMAGE], IMAGE_SUMMARY],
    ['an audio', [AUDIO], { audio: [{ mediaType: 'audio/wav', name: 'audio-1', bytes: 2 }] }],
    ['a blob', [BLOB], { files: [{ mediaType: 'application/pdf', name: 'c.pdf', bytes: 1 }] }],
    ['an image beside an empty text', [EMPTY_TEXT, IMAGE], IMAGE_SUMMARY],
    [
      'all kinds',
      [IMAGE, AUDIO, BLOB, IMAGE],
      {
        images: [
          { mediaType: 'image/png', name: 'image-1', bytes: 3 },
          { mediaType: 'image/png', name: 'image-2', bytes: 3 },
        ],
        audio: [{ mediaType: 'audio/wav', name: 'audio-1', bytes: 2 }],
        files: [{ mediaType: 'application/pdf', name: 'c.pdf', bytes: 1 }],
      },
    ],
  ])('is a summary for %s alone', async (_what, content, value) => {
    const execution = await executionOf({ content });
    expect(execution.value).toEqual(value);
    expect(execution.content).toBe(JSON.stringify(value));
    expect(execution.artifacts).toHaveLength(content.filter((block) => block !== EMPTY_TEXT).length);
  });

  it.each<[string, JsonObject, unknown, string]>([
    ['text before structuredContent', { structuredContent: STRUCTURED, content: [TEXT] }, 'hello', 'hello'],
    ['an embedded text before it', { structuredContent: STRUCTURED, content: [EMBEDDED] }, 'embedded', 'embedded'],
    ['structuredContent without text', { structuredContent: STRUCTURED }, STRUCTURED, '{"rows":[1,2]}'],
    ['it beside an empty text', { structuredContent: STRUCTURED, content: [EMPTY_TEXT] }, STRUCTURED, '{"rows":[1,2]}'],
    ['it beside a link', { structuredContent: STRUCTURED, content: [LINK] }, STRUCTURED, '{"rows":[1,2]}'],
    ['false', { structuredContent: false }, false, 'false'],
    ['a link alone', { content: [LINK] }, [LINK], JSON.stringify([LINK])],
    ['media alone', { content: [IMAGE] }, IMAGE_SUMMARY, JSON.stringify(IMAGE_SUMMARY)],
    ['nothing', {}, '', FALLBACK],
    ['null', { structuredContent: null }, null, FALLBACK],
  ])('is, with isError, %s', async (_what, result, value, content) => {
    const execution = await executionOf({ ...result, isError: true });
    expect(execution).toMatchObject({ status: 'error', content });
    expect(execution.value).toEqual(value);
  });

  it.each([[false], [null], ['false'], [0]])('takes isError %j for no error', async (isError) => {
    expect(await executionOf(text('fine', { isError }))).toMatchObject({ status: 'success', value: 'fine' });
    expect((await executionOf(text('fine', { isError, structuredContent: 1 }))).value).toBe(1);
  });

  it('shows @MapResult the raw result with everything in it', async () => {
    const raw = { content: [TEXT, IMAGE, UNKNOWN], structuredContent: null, _meta: { a: 1 }, extra: [null] };
    const seen = jest.fn((value: unknown) => value);
    await executionOf(raw, { mapResult: seen });
    expect(seen).toHaveBeenCalledWith(
      'hello\n[not shown: a content block of the type "hologram"]',
      expect.objectContaining({ result: raw }),
    );
  });

  it('is the same over stdio, and with the reference server', async () => {
    const result = { structuredContent: STRUCTURED, content: [TEXT] };
    const server = await rawStdio({ tools: [tool('answer')], data: result, call: (_params, { data }) => data });
    expect((await (await serve(toolsetOf(server.connection))).call()).value).toEqual(STRUCTURED);

    const { call } = await serve(toolsetOf(everythingStdio()));
    expect(await call({ a: 2, b: 3 }, 'get-sum')).toMatchObject({
      status: 'success',
      value: expect.stringContaining('5'),
    });
    const image = await call({}, 'get-tiny-image');
    expect(image.artifacts).toMatchObject([{ kind: 'inline', mediaType: 'image/png' }]);
    expect(image.content).not.toContain('iVBOR');
  });
});

describe('R25: an odd block does not lose the rest', () => {
  const oddBlocks: [string, unknown, string?][] = [
    ['null', null],
    ['a string', 'just text'],
    ['a number', 5],
    ['true', true],
    ['an array', [TEXT]],
    ['an empty object', {}],
    ['a block of no type', { text: 'x' }],
    ['a block whose type is null', { type: null, text: 'x' }],
    ['a block whose type is an object', { type: { type: 'text' }, text: 'x' }],
    ['a block of an unknown type', UNKNOWN],
    ['a type in another case', { type: 'TEXT', text: 'x' }],
    ['a text block without text', { type: 'text' }],
    ['a text block whose text is a number', { type: 'text', text: 5 }],
    ['a text block whose text is null', { type: 'text', text: null }],
    ['a resource without resource', { type: 'resource' }],
    ['a resource that is a string', { type: 'resource', resource: 'file:///x' }],
    ['a resource without text and blob', { type: 'resource', resource: { uri: 'file:///x' } }],
    ['a resource whose text is null', { type: 'resource', resource: { uri: 'file:///x', text: null } }],
    ['a link without uri', { type: 'resource_link', name: 'x' }],
    ['a link whose uri is an object', { type: 'resource_link', uri: {}, name: 'x' }],
    ['a type named __proto__', JSON.parse('{"type":"__proto__","__proto__":{"a":1}}')],
  ];

  it.each(oddBlocks)('keeps %s as it came where there is no text', async (_what, block) => {
    const execution = await executionOf({ content: [LINK, block] });
    expect(execution.status).toBe('success');
    expect(JSON.stringify(execution.value)).toBe(JSON.stringify([LINK, block]));
    const alone = await executionOf({ content: [block] });
    expect(JSON.stringify(alone.value)).toBe(JSON.stringify([block]));
  });

  it.each(oddBlocks)('says that %s is not shown where there is a text', async (_what, block) => {
    const execution = await executionOf({ content: [block, TEXT] });
    expect(execution).toMatchObject({ status: 'success', value: expect.stringMatching(/^hello\n\[not shown: .+\]$/) });
  });

  it.each<[string, unknown]>([
    ['an image without data', { type: 'image', mimeType: 'image/png' }],
    ['an image whose data is an array', { type: 'image', mimeType: 'image/png', data: [1, 2, 3] }],
    ['an audio whose data is null', { type: 'audio', mimeType: 'audio/wav', data: null }],
    ['a blob that is a number', { type: 'resource', resource: { uri: 'file:///x', blob: 5 } }],
  ])('replaces %s by a placeholder', async (_what, block) => {
    expect((await executionOf({ content: [TEXT, block] })).value).toMatch(
      /^hello\n\[(image|audio|file) left out: .+\]$/,
    );
    const alone = await executionOf({ content: [block] });
    expect(alone.content).toContain('left out: its data is not base64');
  });

  it('shortens the type of an unknown block', async () => {
    const { value } = await executionOf({ content: [TEXT, { type: `${'x'.repeat(79)}😀${'y'.repeat(100_000)}` }] });
    expect((value as string).length).toBeLessThan(300);
    expect((value as string).isWellFormed()).toBe(true);
  });

  it.each<[string, JsonObject]>([
    ['null', { content: null }],
    ['absent', {}],
  ])('takes content %s for none', async (_what, result) => {
    expect(await executionOf(result)).toMatchObject({ status: 'success', value: '', content: '' });
  });

  it.each<[string, unknown, unknown]>([
    ['one block instead of an array', TEXT, 'hello'],
    ['a string', 'hello', ['hello']],
    ['an object of no type', { 0: TEXT }, [{ 0: TEXT }]],
    ['a number', 5, [5]],
  ])('does not lose content that is %s', async (_what, content, value) => {
    expect((await executionOf({ content })).value).toEqual(value);
  });

  it('makes lone surrogates well-formed in value and content, however deep', async () => {
    const structuredContent = { a: [{ 'k\ud800': ['\udfff x', '😀', { b: 'c\ud800' }] }], n: null, f: 1.5 };
    const execution = await executionOf({ structuredContent });
    const expected = { a: [{ 'k\ufffd': ['\ufffd x', '😀', { b: 'c\ufffd' }] }], n: null, f: 1.5 };
    expect(execution.value).toEqual(expected);
    expect(execution.content).toBe(JSON.stringify(expected));
    expect(Array.isArray((execution.value as { a: unknown }).a)).toBe(true);
  });

  it('makes keys well-formed also where nothing else is to be repaired', async () => {
    expect((await executionOf({ structuredContent: [{ 'k\ud800': 1 }] })).content).toBe('[{"k\ufffd":1}]');
  });

  it('keeps keys such as __proto__ when it repairs a value', async () => {
    const execution = await executionOf('{"structuredContent":{"__proto__":{"a":"\\ud800"},"constructor":1}}');
    expect(execution.content).toBe('{"__proto__":{"a":"\ufffd"},"constructor":1}');
    expect(Object.getPrototypeOf(execution.value)).toBe(Object.prototype);
  });

  it.each<[string, JsonObject, string]>([
    ['a text', text('a\ud800'), 'a\ufffd'],
    ['an error', text('a\ud800', { isError: true }), 'a\ufffd'],
    [
      'the halves of one character in two blocks',
      {
        content: [
          { ...TEXT, text: '\ud83d' },
          { ...TEXT, text: '\ude00' },
        ],
      },
      '\ufffd\n\ufffd',
    ],
    ['an embedded text', { content: [{ type: 'resource', resource: { text: 'a\ud800' } }] }, 'a\ufffd'],
    ['a link', { content: [{ ...LINK, uri: 'x:\ud800' }] }, JSON.stringify([{ ...LINK, uri: 'x:\ufffd' }])],
    ['an unknown block', { content: [{ type: '\ud800' }] }, '[{"type":"\ufffd"}]'],
  ])('makes %s well-formed', async (_what, result, content) => {
    expect((await executionOf(result)).content).toBe(content);
  });

  it('shows a well-formed description, and leaves schema and raw result as they came', async () => {
    const inputSchema = { type: 'object', properties: { 'k\ud800': { description: '\udc00' } } };
    const seen: unknown[] = [];
    const { tools, call } = await answering(text('a\ud800'), {
      definition: { description: 'Half \ud83d', inputSchema },
      mapResult: (value, { result }) => seen.push(result) && value,
    });
    expect(tools.specifications).toMatchObject([{ description: 'Half \ufffd', inputSchema }]);
    await call();
    expect(seen).toEqual([text('a\ud800')]);
  });

  it.each([
    ['array', '[', ']'],
    ['object', '{"a":', '}'],
  ])('keeps a structuredContent of 200,000 levels (%s), which is too deep to be shown', async (_what, open, close) => {
    const levels = 200_000;
    const deep = `${open.repeat(levels)}"\\ud800"${close.repeat(levels)}`;
    const json = `{"structuredContent":${deep},"content":[${JSON.stringify(IMAGE)}]}`;
    const execution = await executionOf(json, { unbounded: true });
    expect(execution).toMatchObject({ status: 'error', content: expect.stringContaining('cannot be shown') });
    expect(depthOf(execution)).toBe(levels);
    expect(execution.artifacts).toHaveLength(1);
  });

  it('ends on a value with a cycle, as a server in the same process may send', async () => {
    @McpToolset({ name: 'inside', connection: { url: 'https://never.example' } })
    class InsideTools {}
    for (const word of ['fine', 'half \ud800']) {
      const cycle: Record<string, unknown> = { word };
      cycle.list = [cycle];
      const call = (): unknown => ({ content: [], structuredContent: cycle });
      const own = container.createChildContainer();
      overrideClient(own, InsideTools, createTestServer({ tools: { round: { call } } }));
      const execution = await (await serveIn(own, InsideTools)).call();
      expect(execution).toMatchObject({ status: 'error', content: expect.stringContaining('cannot be shown as JSON') });
      const [inner] = (execution.value as { list: { word: string; list: unknown[] }[] }).list;
      expect(inner?.word).toBe(word.toWellFormed());
      expect(inner?.list[0]).toBe(inner);
    }
  });

  it('survives blocks that are as deep', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const blocks = `[{"type":${deep}},${deep},${JSON.stringify(TEXT)}]`;
    const execution = await executionOf(`{"content":${blocks}}`, { unbounded: true });
    expect(execution).toMatchObject({ status: 'success', value: expect.stringMatching(/^hello\n\[not shown/) });
  });
});

/** How many levels the value of an execution has above its last, a well-formed string. */
function depthOf({ value }: ToolExecution): number {
  let depth = 0;
  let last = value;
  for (; typeof last === 'object' && last !== null; last = Object.values(last)[0]) depth += 1;
  expect(last).toBe('\ufffd');
  return depth;
}
