import { Artifact, Tool, ToolError, ToolResult } from 'mcp-toolset';
import { createTestServer, type TestServer } from 'mcp-toolset/testing';
import { gif, jpeg, mp3, pdf, png, pngOf, wav, webp } from './media-bytes';

/** What a tool answers, and what a model has to be shown of it, whoever the provider is. */
export interface AwkwardResult {
  readonly title: string;
  /** What the tool of an MCP server answers; what it throws is a failed call. */
  readonly served?: () => unknown;
  /** What a local tool answers. */
  readonly local?: () => unknown;
  readonly isError?: true;
  /** What the text says. */
  readonly text?: RegExp;
  /** The media types that are shown as media; nothing else is. */
  readonly media?: readonly string[];
}

const block = (type: string, data: Buffer | string, mimeType: unknown) => {
  return { type, data: typeof data === 'string' ? data : data.toString('base64'), mimeType };
};
const content =
  (...blocks: unknown[]) =>
  () => ({ content: blocks });
const file = (bytes: Buffer, mimeType: string | undefined, name: string) => {
  return { type: 'resource', resource: { uri: `file:///out/${name}`, mimeType, blob: bytes.toString('base64') } };
};
const artifact = (data: Uint8Array, mediaType: string, name?: string) => Artifact.inline({ data, mediaType, name });
const artifacts =
  (...list: Artifact[]) =>
  () =>
    new ToolResult({ value: 'see the files', artifacts: list });

export const awkwardResults: readonly AwkwardResult[] = [
  { title: 'plain text', served: () => 'fine', text: /^fine$/ },
  { title: 'nothing', served: () => undefined, text: /^The tool returned nothing\.$/ },
  { title: 'an empty text', served: () => '', text: /^The tool returned nothing\.$/ },
  { title: 'blanks', served: () => ' \n\t\u00a0 ', text: /^The tool returned nothing\.$/ },
  { title: 'what cannot be seen', served: () => '\u200b\u2060\u0000', text: /^The tool returned nothing\.$/ },
  { title: 'half a face', served: () => 'half \ud83d', text: /^half \ufffd$/ },
  { title: 'control characters', served: () => 'a\u0000b\u001b[31m', text: /^a.b/s },
  { title: 'a structure', served: () => ({ rows: [1, 2] }), text: /^\{"rows":\[1,2\]\}$/ },
  { title: 'null', local: () => null, text: /^The tool returned nothing\.$/ },
  { title: 'a number', local: () => 0, text: /^0$/ },
  { title: 'false', local: () => false, text: /^false$/ },
  {
    title: 'a text that is too long',
    local: () => 'x'.repeat(250_000),
    text: /150,000 of 250,000 characters are not shown\. The application has the whole/,
  },
  {
    title: 'faces at the cut',
    local: () => `${'x'.repeat(99_999)}😀 and more`,
    text: /x\n\[Cut here: 11 of 100,010 characters/,
  },
  { title: 'a value that is no JSON', local: () => 10n, isError: true, text: /cannot be shown as JSON/ },
  {
    title: 'a failure with a message',
    served: () => {
      throw new Error('no such order');
    },
    isError: true,
    text: /no such order/,
  },
  { title: 'a failure that says nothing', served: () => ({ isError: true, content: [] }), isError: true, text: /\S/ },
  {
    title: 'a failure that says blanks',
    served: () => ({ isError: true, content: [{ type: 'text', text: '  ' }] }),
    isError: true,
    text: /\S/,
  },
  {
    title: 'a failure of the code',
    local: () => {
      throw new TypeError('secret');
    },
    isError: true,
    text: /Tool failed \(TypeError\)$/,
  },
  {
    title: 'a failure for the model',
    local: () => {
      throw new ToolError('try again tomorrow');
    },
    isError: true,
    text: /try again tomorrow$/,
  },
  { title: 'a PNG', served: content(block('image', png, 'image/png')), text: /"images"/, media: ['image/png'] },
  {
    title: 'a JPEG, a GIF and a WebP',
    served: content(
      block('image', jpeg, 'image/jpg'),
      block('image', gif, 'IMAGE/GIF'),
      block('image', webp, 'image/webp; q=1'),
    ),
    media: ['image/jpeg', 'image/gif', 'image/webp'],
  },
  {
    title: 'an image alone',
    local: () => new ToolResult({ value: '', artifacts: [artifact(png, 'image/png')] }),
    media: ['image/png'],
  },
  {
    title: 'a text that claims to be an image',
    served: content(block('image', Buffer.from('not an image'), 'image/png')),
    text: /its bytes are something else/,
  },
  {
    title: 'a JPEG that claims to be a PNG',
    served: content(block('image', jpeg, 'image/png')),
    text: /its bytes are image\/jpeg/,
  },
  {
    title: 'an image without its end',
    local: artifacts(artifact(png.subarray(0, 50), 'image/png', 'half.png')),
    text: /"half\.png" \(image\/png\): its end is missing/,
  },
  { title: 'an image without bytes', local: artifacts(artifact(new Uint8Array(), 'image/png')), text: /it is empty/ },
  { title: 'an image without a size', local: artifacts(artifact(pngOf(0, 5), 'image/png')), text: /it has no size/ },
  {
    title: 'an image that no model takes',
    served: content(block('image', Buffer.from('II*\0'), 'image/tiff')),
    text: /\(image\/tiff\): the model cannot be given this media type\. The application has it\./,
  },
  {
    title: 'an image that does not say what it is',
    local: artifacts(artifact(png, 'application/octet-stream', 'photo')),
    media: ['image/png'],
  },
  { title: 'a PDF', served: content(file(pdf, 'application/pdf', 'invoice 7.pdf')), media: ['application/pdf'] },
  {
    title: 'a PDF that is none',
    served: content(file(Buffer.from('<html>'), 'application/pdf', 'x.pdf')),
    text: /"x\.pdf" \(application\/pdf\): its bytes are something else/,
  },
  {
    title: 'a file of a text',
    served: content(file(Buffer.from('a;b\n1;2'), 'text/csv', 'data.csv')),
    text: /"data\.csv" \(text\/csv\):\na;b\n1;2/,
  },
  {
    title: 'a file of a text that is none',
    served: content(file(Buffer.from([0xff, 0xfe, 0]), 'text/plain', 'data.txt')),
    text: /it is no UTF-8 text/,
  },
  {
    title: 'a program',
    served: content(file(Buffer.from('\x7fELF'), undefined, 'a.out')),
    text: /"a\.out" \(application\/octet-stream\)/,
  },
  {
    title: 'sounds',
    served: content(block('audio', wav, 'audio/wav'), block('audio', mp3, 'audio/mpeg')),
    text: /audio\/wav.*audio\/mpeg/s,
  },
  {
    title: 'a reference to bytes',
    local: artifacts(Artifact.deferred({ reference: 7, mediaType: 'image/png', name: 'later.png' })),
    text: /"later\.png" \(image\/png\): its bytes are not available here/,
  },
  {
    title: 'more artifacts than a turn shows',
    local: artifacts(...Array.from({ length: 25 }, () => artifact(png, 'image/png'))),
    text: /5 more artifacts: a turn shows at most 20/,
    media: Array.from({ length: 20 }, () => 'image/png'),
  },
  {
    title: 'names that are no names',
    local: artifacts(artifact(Buffer.from('x'), 'image/png', `a"\u202e\n${'b'.repeat(500)}`)),
    text: /"a\\"b{117}…" \(image\/png\)/,
  },
  {
    title: 'a failure with an image',
    served: () => ({ isError: true, content: [{ type: 'text', text: 'broken' }, block('image', png, 'image/png')] }),
    isError: true,
    text: /broken/,
  },
];

/** The name of the tool that answers with a result. */
export const resultTool = (result: AwkwardResult): string => `result_${awkwardResults.indexOf(result)}`;

const inputSchema = { type: 'object' };

/** The SDK's server in memory, with a tool for each result that is served. */
export function awkwardResultServer(): TestServer {
  const served = awkwardResults.filter(({ served: call }) => call !== undefined);
  return createTestServer({
    tools: Object.fromEntries(
      served.map((result) => [resultTool(result), { description: result.title, call: () => result.served?.() }]),
    ),
  });
}

/** A local tool for each result that is not served. */
export function awkwardResultTools(): (typeof Tool.prototype)[] {
  const local = awkwardResults.filter(({ local: call }) => call !== undefined);
  return local.map((result) => {
    const call = (): unknown => result.local?.();
    return new (Tool.define({ name: resultTool(result), description: result.title, inputSchema, call }))();
  });
}
