import type { Artifact, ToolExecution } from 'mcp-toolset';
import { text, type JsonObject } from '../servers';
import { answering, closeAfterEach, executionOf } from './served-tools';

closeAfterEach();

const TEXT = { type: 'text', text: 'hello' };
const LINK = { type: 'resource_link', uri: 'https://docs.example/1', name: 'one' };

/** An image of so many bytes. */
function image(bytes: number, fill = 7): JsonObject {
  return { type: 'image', mimeType: 'image/png', data: Buffer.alloc(bytes, fill).toString('base64') };
}

function blob(resource: JsonObject): JsonObject {
  return { type: 'resource', resource: { mimeType: 'application/pdf', blob: 'AAEC', ...resource } };
}

function sizes({ artifacts }: ToolExecution): (number | undefined)[] {
  return artifacts.map(({ data }) => data?.byteLength);
}

describe('R21: media become artifacts', () => {
  it.each<[string, JsonObject, Partial<Artifact>]>([
    [
      'an image',
      { type: 'image', data: 'AAEC', mimeType: 'image/png' },
      { mediaType: 'image/png', name: 'image-1', metadata: {} },
    ],
    [
      'an audio',
      { type: 'audio', data: 'AAEC', mimeType: 'audio/wav' },
      { mediaType: 'audio/wav', name: 'audio-1', metadata: {} },
    ],
    [
      'a blob',
      blob({ uri: 'file:///reports/q%203.pdf?v=1#top' }),
      { mediaType: 'application/pdf', name: 'q 3.pdf', metadata: { uri: 'file:///reports/q%203.pdf?v=1#top' } },
    ],
    ['a blob without uri', blob({}), { mediaType: 'application/pdf', name: 'file-1', metadata: {} }],
    [
      'an image without a type',
      { type: 'image', data: 'AAEC' },
      { mediaType: 'application/octet-stream', name: 'image-1' },
    ],
    [
      'an image whose type is a number',
      { type: 'image', data: 'AAEC', mimeType: 5 },
      { mediaType: 'application/octet-stream' },
    ],
  ])('makes an inline artifact of %s', async (_what, block, expected) => {
    const { artifacts, status } = await executionOf({ content: [TEXT, block] });
    expect(status).toBe('success');
    expect(artifacts).toMatchObject([{ kind: 'inline', ...expected }]);
    expect([...(artifacts[0]?.data ?? [])]).toEqual([0, 1, 2]);
    expect(artifacts[0]?.data?.constructor.name).toBe('Uint8Array');
  });

  it.each<[string, string | undefined]>([
    ['https://host.example/a/b/photo.png', 'photo.png'],
    ['https://host.example/a/b/', 'b'],
    ['report.pdf', 'report.pdf'],
    ['file:///..%2F..%2Fetc%2Fpasswd', 'passwd'],
    ['file:///a%5Cb%5Cevil.exe', 'evil.exe'],
    ['file:///a/%2e%2e', 'a'],
    ['file:///a/..', 'a'],
    ['file:///100%', '100%'],
    ['file:///a%00b%0A.png', 'ab.png'],
    ['file:///%ED%A0%80', '%ED%A0%80'],
    ['', undefined],
    ['/', undefined],
    ['..', undefined],
    ['data:application/pdf;base64,AAEC/AAEC', undefined],
  ])('names the artifact of %j so that it can be a file name', async (uri, name) => {
    const { artifacts, value } = await executionOf({ content: [blob({ uri })] });
    expect(artifacts).toMatchObject([{ name: name ?? 'file-1', metadata: { uri } }]);
    expect(value).toEqual({ files: [{ mediaType: 'application/pdf', name: name ?? 'file-1', bytes: 3 }] });
  });

  it('numbers those of one kind that have no name', async () => {
    const audio = { type: 'audio', data: 'AAEC', mimeType: 'audio/wav' };
    const { artifacts } = await executionOf({ content: [image(1), audio, image(2), blob({}), audio] });
    expect(artifacts.map(({ name }) => name)).toEqual(['image-1', 'audio-1', 'image-2', 'file-1', 'audio-2']);
  });

  const secret = 'c2VjcmV0c2VjcmV0';
  const bearers: [string, JsonObject][] = [
    ['an image', { type: 'image', data: secret, mimeType: 'image/png' }],
    ['an audio', { type: 'audio', data: secret, mimeType: 'audio/wav' }],
    ['a blob', blob({ blob: secret, uri: 'file:///a' })],
    ['a blob with a text', blob({ blob: secret, uri: 'file:///a', text: 'readable' })],
    ['a blob with an empty text', blob({ blob: secret, uri: 'file:///a', text: '' })],
    ['a blob in a data URI', blob({ blob: secret, uri: `data:application/pdf;base64,/${secret}` })],
  ];

  it.each(bearers)(
    'keeps the base64 of %s out of value and content, whatever it stands beside',
    async (_what, block) => {
      for (const others of [[], [TEXT], [LINK], [null], [{ type: 'text', text: '' }]]) {
        for (const rest of [{}, { isError: true }, { structuredContent: null }, { structuredContent: { a: 1 } }]) {
          const execution = await executionOf({ ...rest, content: [...others, block] });
          expect(execution.artifacts).toHaveLength(1);
          expect(JSON.stringify([execution.value, execution.content])).not.toContain(secret);
        }
      }
    },
  );

  it('shows the text of a resource that has both, and makes an artifact of its bytes', async () => {
    const execution = await executionOf({ content: [blob({ uri: 'file:///a', text: 'readable' })] });
    expect(execution).toMatchObject({ value: 'readable', artifacts: [{ name: 'a' }] });
  });

  it('keeps the artifacts of an error', async () => {
    const execution = await executionOf(text('no', { isError: true, content: [TEXT, image(3)] }));
    expect(execution).toMatchObject({ status: 'error', content: 'hello', artifacts: [{ mediaType: 'image/png' }] });
  });
});

describe('R21: base64 is strict', () => {
  it.each<[string, number[]]>([
    ['', []],
    ['AA==', [0]],
    ['/w==', [255]],
    ['AAE=', [0, 1]],
    ['AAEC', [0, 1, 2]],
    ['+/+/', [251, 255, 191]],
  ])('takes %j', async (data, bytes) => {
    const { artifacts } = await executionOf({ content: [{ type: 'image', data, mimeType: 'image/png' }] });
    expect([...(artifacts[0]?.data ?? [-1])]).toEqual(bytes);
  });

  it.each<[string, unknown]>([
    ['no padding', 'AA'],
    ['too little padding', 'AA='],
    ['padding that is not needed', 'AAEC===='],
    ['padding alone', '===='],
    ['three padding characters', 'A==='],
    ['padding in the middle', 'AA==AAEC'],
    ['padding in a group', 'A=A='],
    ['a lone character', 'A'],
    ['five characters', 'AAECA'],
    ['a space', 'AA C'],
    ['spaces around', ' AAE '],
    ['a line break', 'AAEC\nAAE'],
    ['a line break at the end', 'AAE\n'],
    ['a line break after the padding', 'A==\n'],
    ['the URL-safe alphabet', '-_-_'],
    ['a character beyond ASCII', 'AAÉC'],
    ['an astral character', '😀AA'],
    ['a NUL', 'AA\u0000C'],
    ['unused bits after two bytes', 'AAF='],
    ['unused bits after one byte', 'AB=='],
    ['unused bits after one byte, the high one', 'AI=='],
    ['unused bits after two bytes, the high one', 'AAC='],
    ['a data URI', 'data:image/png;base64,AAEC'],
    ['a number', 5],
    ['null', null],
    ['bytes as numbers', [0, 1]],
    ['nothing', undefined],
  ])('leaves %s out and says so', async (_what, data) => {
    const execution = await executionOf({ content: [TEXT, { type: 'image', data, mimeType: 'image/png' }] });
    expect(execution).toMatchObject({
      status: 'success',
      value: 'hello\n[image left out: its data is not base64]',
      artifacts: [],
    });
  });

  it('checks 20 MiB without recursion', async () => {
    const bytes = 20 * 1024 * 1024;
    const limits = { maxMediaBytes: bytes };
    const good = Buffer.alloc(bytes, 1).toString('base64');
    const bad = `${good.slice(0, -8)}*${good.slice(-7)}`;
    const blocks = [good, bad].map((data) => ({ type: 'image', data, mimeType: 'image/png' }));
    const execution = await executionOf({ content: [TEXT, ...blocks] }, { limits, unbounded: true });
    expect(sizes(execution)).toEqual([bytes]);
    expect(execution.content).toBe('hello\n[image left out: its data is not base64]');
  });
});

describe('R21: media have limits', () => {
  const over = (kind: string, limit: string): RegExp =>
    new RegExp(`^hello\\n\\[${kind} left out: [^\\n]*${limit}[^\\n]*\\]$`);

  it('takes as many blocks as maxMediaBlocks, and leaves out what is over', async () => {
    const limits = { maxMediaBlocks: 2 };
    const two = await executionOf({ content: [TEXT, image(1), image(2)] }, { limits });
    expect(two.value).toBe('hello');
    expect(sizes(two)).toEqual([1, 2]);
    const three = await executionOf({ content: [TEXT, image(1), image(2), blob({})] }, { limits });
    expect(three.value).toMatch(over('file', 'maxMediaBlocks'));
    expect(sizes(three)).toEqual([1, 2]);
  });

  it('takes 20 blocks by default', async () => {
    const execution = await executionOf({ content: [TEXT, ...Array.from({ length: 21 }, () => image(1))] });
    expect(execution.artifacts).toHaveLength(20);
    expect(execution.value).toMatch(over('image', 'maxMediaBlocks'));
  });

  it('takes a block of maxMediaBytes, and leaves a bigger one out', async () => {
    const limits = { maxMediaBytes: 4 };
    const execution = await executionOf({ content: [TEXT, image(4), image(5)] }, { limits });
    expect(sizes(execution)).toEqual([4]);
    expect(execution.value).toMatch(over('image', 'maxMediaBytes'));
    expect(execution.value).toContain('5 bytes');
  });

  it('takes 16 MiB in a block by default', async () => {
    const most = 16 * 1024 * 1024;
    const execution = await executionOf({ content: [TEXT, image(most), image(most + 1)] }, { unbounded: true });
    expect(sizes(execution)).toEqual([most]);
    expect(execution.value).toMatch(over('image', 'maxMediaBytes'));
  });

  it('takes maxTotalMediaBytes together, and smaller blocks after one that did not fit', async () => {
    const limits = { maxTotalMediaBytes: 10 };
    const execution = await executionOf({ content: [TEXT, image(6), image(5), image(4), image(1)] }, { limits });
    expect(sizes(execution)).toEqual([6, 4]);
    const [, first, second] = (execution.value as string).split('\n');
    expect(first).toMatch(/maxTotalMediaBytes/);
    expect(second).toMatch(/maxTotalMediaBytes/);
  });

  it('takes 64 MiB together by default', async () => {
    const quarter = 16 * 1024 * 1024;
    const content = [TEXT, image(quarter), image(quarter), image(quarter), image(quarter - 1), image(2), image(1)];
    const execution = await executionOf({ content }, { unbounded: true });
    expect(sizes(execution)).toEqual([quarter, quarter, quarter, quarter - 1, 1]);
    expect(execution.value).toMatch(over('image', 'maxTotalMediaBytes'));
  });

  it('does not count what is left out', async () => {
    const limits = { maxMediaBlocks: 1, maxMediaBytes: 4, maxTotalMediaBytes: 4 };
    const broken = { type: 'image', data: '*', mimeType: 'image/png' };
    expect(sizes(await executionOf({ content: [broken, image(5), image(4)] }, { limits }))).toEqual([4]);
  });

  it('gives every result its own count', async () => {
    const { call } = await answering({ content: [image(1)] }, { limits: { maxMediaBlocks: 1 } });
    expect(sizes(await call())).toEqual([1]);
    expect(sizes(await call())).toEqual([1]);
  });

  const limits = { maxMediaBytes: 2 };
  const placeholder = '[image left out: its 3 bytes are more than 2 (limit maxMediaBytes)]';

  it.each<[string, unknown[], unknown]>([
    ['in a text', [TEXT, image(3)], `hello\n${placeholder}`],
    ['among blocks', [LINK, image(3)], [LINK, { type: 'text', text: placeholder }]],
    [
      'in the summary of the media that were taken',
      [image(1), image(3)],
      { images: [{ mediaType: 'image/png', name: 'image-1', bytes: 1 }], omitted: [placeholder] },
    ],
    ['where nothing else came', [image(3)], { omitted: [placeholder] }],
  ])('shows the placeholder %s', async (_where, content, value) => {
    const execution = await executionOf({ content }, { limits });
    expect(execution.value).toEqual(value);
    expect(execution.content).toContain(placeholder);
  });

  it('shows the placeholder in an error', async () => {
    const execution = await executionOf({ content: [image(3)], isError: true }, { limits });
    expect(execution).toMatchObject({ status: 'error', content: expect.stringContaining(placeholder) });
  });

  it('warns of what is left out where structuredContent is the value', async () => {
    const { call, warnings } = await answering({ structuredContent: { a: 1 }, content: [image(3)] }, { limits });
    expect((await call()).value).toEqual({ a: 1 });
    expect(warnings).toEqual([expect.stringContaining(placeholder)]);
    expect(warnings[0]).toMatch(/served.*"answer"/);
  });

  it('R21: warns of ten of them at most, however many a result has', async () => {
    const content = Array.from({ length: 1_000 }, () => ({ type: 'image' }));
    const { call, warnings } = await answering({ structuredContent: { a: 1 }, content });
    await call();
    expect(warnings).toHaveLength(11);
    expect(warnings.at(-1)).toContain('and 990 more');
  });

  it('does not warn of what the value shows', async () => {
    const { call, warnings } = await answering({ content: [TEXT, image(3)] }, { limits });
    await call();
    expect(warnings).toEqual([]);
  });
});
