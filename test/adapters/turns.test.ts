import { once } from 'node:events';
import {
  CancelledError,
  DeadlineExceededError,
  Tool,
  ToolResult,
  Artifact,
  type ToolCallContext,
  type ToolDefinition,
} from 'mcp-toolset';
import { anthropicToolResults } from 'mcp-toolset/anthropic';
import { createTestServer } from 'mcp-toolset/testing';
import { leapingClock, LIMIT } from '../leaping-clock';
import { adapterRun, closeAfterEach, waitingTool, type AdapterRun } from './adapter-run';
import { pdf, png, pngOf } from './media-bytes';

closeAfterEach();
const clock = leapingClock();

const inputSchema = { type: 'object' };
const defined = (name: string, call: ToolDefinition['call'], exclusive = false) =>
  Tool.define({ name, description: 'x', inputSchema, call, exclusive });

/** A message that calls tools. */
const calling = (...names: string[]) => {
  const content = names.map((name, index) => ({ type: 'tool_use', id: `toolu_${index}`, name, input: {} }));
  return { content };
};

type Block = { type: string; text?: string };

async function textsOf({ tools }: AdapterRun, names: string[], limits = {}): Promise<string[]> {
  const results = await anthropicToolResults(tools, calling(...names), { limits });
  return results.map(({ content }) => (content as Block[]).map(({ type, text }) => text ?? type).join('|'));
}

describe('the calls of a turn', () => {
  it('run in parallel, and are answered in their own order', async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const slow = defined('slow', async () => {
      await released;
      return 'slow';
    });
    const fast = defined('fast', () => {
      release();
      return 'fast';
    });
    const made = await adapterRun({ entries: [slow, fast] });
    expect(await textsOf(made, ['slow', 'fast', 'slow'])).toEqual(['slow', 'fast', 'slow']);
  });

  it('R33: do not overlap where their tools are exclusive', async () => {
    let running = 0;
    const alone = defined(
      'alone',
      async () => {
        running += 1;
        const seen = running;
        await new Promise(setImmediate);
        running -= 1;
        return seen;
      },
      true,
    );
    const made = await adapterRun({ entries: alone });
    expect(await textsOf(made, ['alone', 'alone', 'alone'])).toEqual(['1', '1', '1']);
  });

  it('end with a CancelledError when the run is cancelled, and the server is told', async () => {
    const told: Promise<unknown>[] = [];
    const server = createTestServer({
      tools: {
        wait: {
          call: (_, { signal }) => {
            told.push(once(signal, 'abort'));
            if (told.length === 2) made.run.cancel('enough');
            return new Promise(() => {});
          },
        },
      },
    });
    const made: AdapterRun = await adapterRun({ server });
    const ended = anthropicToolResults(made.tools, calling('wait', 'wait'));
    await expect(ended).rejects.toThrow(CancelledError);
    await expect(ended).rejects.toMatchObject({ cause: 'enough' });
    await Promise.all(told);
  });

  it('are not begun in a run that has ended', async () => {
    const begun: string[] = [];
    const made = await adapterRun({ entries: defined('begin', () => void begun.push('x')) });
    made.run.cancel();
    await expect(anthropicToolResults(made.tools, calling('begin', 'begin'))).rejects.toThrow(CancelledError);
    await expect(anthropicToolResults(made.tools, { content: [] })).rejects.toThrow(CancelledError);
    expect(begun).toEqual([]);
  });

  it('are not begun when the turn was cancelled before', async () => {
    const begun: string[] = [];
    const { tools } = await adapterRun({ entries: defined('begin', () => void begun.push('x')) });
    const ended = anthropicToolResults(tools, calling('begin'), { signal: AbortSignal.abort('stop') });
    await expect(ended).rejects.toMatchObject({ name: 'CancelledError', cause: 'stop' });
    expect(begun).toEqual([]);
  });

  it('end with a DeadlineExceededError when the deadline passes', async () => {
    const { wait, called } = waitingTool();
    const texts = textsOf(await adapterRun({ entries: wait, timeout: LIMIT }), ['wait', 'wait']);
    await called;
    clock.leap(LIMIT);
    await expect(texts).rejects.toThrow(DeadlineExceededError);
  });

  it('are cancelled together when one of them throws, and nothing is left under way', async () => {
    const ended: unknown[] = [];
    const wait = defined('wait', async (_, { signal }: ToolCallContext) => {
      await once(signal, 'abort');
      ended.push(signal.reason);
    });
    const leave = defined('leave', () => {
      throw new CancelledError('the user has left');
    });
    const made = await adapterRun({ entries: [wait, leave] });
    await expect(textsOf(made, ['wait', 'leave', 'wait'])).rejects.toThrow('the user has left');
    expect(ended).toHaveLength(2);
    expect(made.run.state).toBe('active');
  });

  it('leave no listener on the signals of the run and of the turn', async () => {
    const made = await adapterRun({ entries: defined('fine', () => 'fine') });
    const own = new AbortController();
    const added = [made.run.signal, own.signal].map((signal) => jest.spyOn(signal, 'addEventListener'));
    const removed = [made.run.signal, own.signal].map((signal) => jest.spyOn(signal, 'removeEventListener'));
    await anthropicToolResults(made.tools, calling('fine', 'fine'), { signal: own.signal });
    const count = (spies: jest.SpyInstance[]): number[] => spies.map(({ mock }) => mock.calls.length);
    expect(count(removed)).toEqual(count(added));
    // Its own work waits for the run without a listener on its signal.
    expect(count(added)[1]).toBeGreaterThan(0);
  });
});

describe('the limits', () => {
  const withFiles = (...artifacts: Artifact[]) => defined('files', () => new ToolResult({ value: 'done', artifacts }));
  const image = (bytes: number) => Artifact.inline({ data: pngOf(1, 1, bytes), mediaType: 'image/png', name: 'a.png' });

  it.each<[string, number, string]>([
    ['abcdef', 6, 'abcdef'],
    ['abcdef', 4, 'abcd\n[Cut here: 2 of 6 characters are not shown. The application has the whole result.]'],
    ['abc😀ef', 4, 'abc\n[Cut here: 4 of 7 characters are not shown. The application has the whole result.]'],
    ['abce\u0301fg', 4, 'abc\n[Cut here: 4 of 7 characters are not shown. The application has the whole result.]'],
    ['ab👨‍👩‍👧cd', 5, 'ab\n[Cut here: 10 of 12 characters are not shown. The application has the whole result.]'],
    [
      '\u{1D167}'.repeat(100),
      101,
      `${'\u{1D167}'.repeat(50)}\n[Cut here: 100 of 200 characters are not shown. The application has the whole result.]`,
    ],
    ['😀', 1, '[Cut here: 2 of 2 characters are not shown. The application has the whole result.]'],
    [
      '\u0301'.repeat(300),
      200,
      `${'\u0301'.repeat(200)}\n[Cut here: 100 of 300 characters are not shown. The application has the whole result.]`,
    ],
  ])('cut the text %j after at most %i characters', async (text, maxTextLength, expected) => {
    const made = await adapterRun({ entries: defined('say', () => text) });
    expect(await textsOf(made, ['say'], { maxTextLength })).toEqual([expected]);
  });

  it('hold for text and files of text together', async () => {
    const file = Artifact.inline({ data: Buffer.from('0123456789'), mediaType: 'text/plain', name: 'n.txt' });
    const made = await adapterRun({ entries: withFiles(file, file) });
    const whole = 'The application has the whole as "n.txt" (text/plain).';
    expect(await textsOf(made, ['files'], { maxTextLength: 10 })).toEqual([
      [
        'done',
        `"n.txt" (text/plain):\n012345\n[Cut here: 4 of 10 characters are not shown. ${whole}]`,
        `"n.txt" (text/plain):\n[Cut here: 10 of 10 characters are not shown. ${whole}]`,
      ].join('\n'),
    ]);
  });

  it('bound the artifacts and the bytes of all results of a turn, in their order', async () => {
    const made = await adapterRun({ entries: withFiles(image(600), image(600)) });
    expect(await textsOf(made, ['files', 'files'], { maxArtifacts: 3 })).toEqual([
      'done|image|image',
      'done|image|[Not shown: 1 more artifact: a turn shows at most 3. The application has them.]',
    ]);
    const over =
      '[Not shown: "a.png" (image/png): with it the turn would have more than 1,500 bytes of artifacts. The application has it.]';
    expect(await textsOf(made, ['files', 'files'], { maxTurnBytes: 1_500 })).toEqual([
      'done|image|image',
      `done\n${over}\n${over}`,
    ]);
  });

  it('bound one artifact: by what the provider takes, or by what the application says', async () => {
    const made = await adapterRun({ entries: withFiles(image(3_932_161), image(700)) });
    const note = (bytes: string, max: string): string =>
      `[Not shown: "a.png" (image/png): its ${bytes} bytes are more than the ${max} that are allowed. The application has it.]`;
    expect(await textsOf(made, ['files'])).toEqual([`done\n${note('3,932,161', '3,932,160')}|image`]);
    expect(await textsOf(made, ['files'], { maxArtifactBytes: 5_000_000 })).toEqual(['done|image|image']);
    expect(await textsOf(made, ['files'], { maxArtifactBytes: 699 })).toEqual([
      `done\n${note('3,932,161', '699')}\n${note('700', '699')}`,
    ]);
  });

  it("keep to the provider's number of pixels", async () => {
    const data = pngOf(1_000, 8_001);
    const made = await adapterRun({
      entries: withFiles(Artifact.inline({ data, mediaType: 'image/png', name: 'page.png' })),
    });
    expect(await textsOf(made, ['files'])).toEqual([
      'done\n[Not shown: "page.png" (image/png): its 1000 by 8001 pixels are more than 8000 on one side. The application has it.]',
    ]);
  });

  it.each([
    [{ limits: { maxText: 5 } }, 'unknown option "limits.maxText"'],
    [{ limits: { maxTextLength: 0 } }, 'option "limits.maxTextLength": expected a whole number of at least 1'],
    [{ signal: {} }, 'option "signal": expected an AbortSignal'],
    [{ timeout: 5 }, 'unknown option "timeout"'],
  ])('and other options are checked: %j', async (options, message) => {
    const { tools } = await adapterRun({});
    const answered = anthropicToolResults(tools, { content: [] }, options as object);
    await expect(answered).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: `anthropicToolResults: ${message}`,
    });
  });

  it('presents a PDF with its name, and a local image of another realm or of a view', async () => {
    const whole = Buffer.concat([Buffer.from('before'), png, Buffer.from('after')]);
    const view = new DataView(whole.buffer, whole.byteOffset + 6, png.byteLength) as unknown as Uint8Array;
    const artifacts = [
      Artifact.inline({ data: pdf, mediaType: 'application/pdf', name: 'invoice.pdf' }),
      Artifact.inline({ data: view, mediaType: 'image/png' }),
    ];
    const { tools } = await adapterRun({ entries: withFiles(...artifacts) });
    const [result] = await anthropicToolResults(tools, calling('files'));
    expect(result?.content).toEqual([
      { type: 'text', text: 'done' },
      {
        type: 'document',
        title: 'invoice.pdf',
        source: { type: 'base64', media_type: 'application/pdf', data: pdf.toString('base64') },
      },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } },
    ]);
  });
});
