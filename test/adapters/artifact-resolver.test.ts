import { setTimeout as delay } from 'node:timers/promises';
import {
  Artifact,
  ArtifactResolver,
  CancelledError,
  DeadlineExceededError,
  Tool,
  ToolError,
  ToolResult,
  type ArtifactResolverContext,
  type DeferredArtifact,
} from 'mcp-toolset';
import { anthropicToolResults } from 'mcp-toolset/anthropic';
import { gate } from '../contract/live-run';
import { leapingClock, LIMIT } from '../leaping-clock';
import { adapterRun, closeAfterEach, type AdapterRun, type AdapterRunParts } from './adapter-run';
import { png, pngOf } from './media-bytes';

closeAfterEach();
const clock = leapingClock();

type Resolve = (artifact: DeferredArtifact, context: ArtifactResolverContext) => unknown;

const deferred = (reference: unknown, mediaType = 'image/png') =>
  Artifact.deferred({ reference, mediaType, name: 'later.png' });

/** A run whose one tool answers with references, and whose resolver is the given function. */
async function resolving(
  resolve: Resolve,
  { artifacts = [deferred(1)], ...parts }: AdapterRunParts & { artifacts?: Artifact[] } = {},
): Promise<AdapterRun> {
  class TestResolver extends ArtifactResolver {
    override resolve(artifact: DeferredArtifact, context: ArtifactResolverContext) {
      return resolve(artifact, context) as undefined;
    }
  }
  const call = () => new ToolResult({ value: 'done', artifacts });
  const Pictures = Tool.define({ name: 'pictures', description: 'x', inputSchema: { type: 'object' }, call });
  const made = await adapterRun({ ...parts, entries: Pictures });
  made.run.container.register(ArtifactResolver, { useClass: TestResolver });
  return made;
}

const message = { content: [{ type: 'tool_use', id: 'toolu_1', name: 'pictures', input: {} }] };

async function shown({ tools }: AdapterRun, limits = {}): Promise<string[]> {
  const results = await anthropicToolResults(tools, message, { limits });
  const blocks = results.flatMap(({ content }) => content as { type: string; text?: string }[]);
  return blocks.map(({ type, text }) => text ?? type);
}

const note = (fault: string) => [`done\n[Not shown: "later.png" (image/png): ${fault}. The application has it.]`];

it('shows the bytes that it resolves, sync or async, and is told for whom', async () => {
  const seen: [unknown, ArtifactResolverContext][] = [];
  const made = await resolving(
    ({ reference }, context) => {
      seen.push([reference, context]);
      return reference === 1 ? png : Promise.resolve(new Uint8Array(png));
    },
    { artifacts: [deferred(1), deferred(2)] },
  );
  expect(await shown(made)).toEqual(['done', 'image', 'image']);
  expect(seen.map(([reference]) => reference)).toEqual([1, 2]);
  const [, context] = seen[0] ?? [];
  expect(context).toMatchObject({ run: made.run, maxBytes: 3_932_160 });
  expect(context?.binding.run).toBe(made.run);
  expect(context?.signal.aborted).toBe(false);
});

it('is not asked for what could not be shown', async () => {
  const asked: unknown[] = [];
  const artifacts = [deferred(1, 'image/tiff'), deferred(2), deferred(3)];
  const made = await resolving(({ reference }) => void asked.push(reference), { artifacts });
  await shown(made, { maxArtifacts: 2 });
  expect(asked).toEqual([2]);
});

it('is undefined by default: a note', async () => {
  const made = await resolving(() => undefined);
  expect(await shown(made)).toEqual(note('its bytes are not available here'));
  expect(made.warnings).toEqual([]);
});

it.each<[string, Resolve, string]>([
  [
    'throws',
    () => {
      throw new Error('secret');
    },
    'its bytes could not be fetched',
  ],
  ['rejects', () => Promise.reject(new Error('secret')), 'its bytes could not be fetched'],
  ['rejects with nothing', () => Promise.reject(undefined), 'its bytes could not be fetched'],
  [
    'has a message for the model',
    () => {
      throw new ToolError('it was deleted');
    },
    'its bytes could not be fetched: it was deleted',
  ],
  [
    'speaks of a cancellation that is none',
    () => {
      throw new CancelledError('x');
    },
    'its bytes could not be fetched',
  ],
  ['returns a text', () => 'bytes', 'its bytes could not be fetched'],
  ['returns something with a fault', () => ({ fault: 'x' }), 'its bytes could not be fetched'],
])('becomes a note and a warning when it %s', async (_, resolve, fault) => {
  const made = await resolving(resolve);
  expect(await shown(made)).toEqual(note(fault));
  expect(made.warnings).toEqual([
    expect.stringMatching(/^ArtifactResolver#resolve .* for "later\.png" \(image\/png\) of pictures[:;] /),
  ]);
});

it.each(['The file has expired.', 'Has the file expired?', 'The file has expired…', 'The file has expired. '])(
  'becomes a note with one end of its sentence: %j',
  async (reason) => {
    const made = await resolving(() => Promise.reject(new ToolError(reason)));
    const [text = ''] = await shown(made);
    expect(text).toContain(`its bytes could not be fetched: ${reason.trim()} The application has it.]`);
  },
);

it.each<[string, Resolve, string]>([
  ['null', () => null, 'its bytes are not available here'],
  ['no bytes', () => new Uint8Array(), 'it is empty'],
  ['too many bytes', () => pngOf(1, 1, 4_000_000), 'its 4,000,000 bytes are more than the 3,932,160 that are allowed'],
  ['other bytes', () => Buffer.from('hello'), 'its bytes are something else'],
])('becomes a note when it returns %s', async (_, resolve, fault) => {
  const made = await resolving(resolve);
  expect(await shown(made)).toEqual(note(fault));
});

it('becomes a note when it takes longer than a request may, and is told to stop', async () => {
  const stopped: AbortSignal[] = [];
  const resolve: Resolve = (_, { signal }) => {
    stopped.push(signal);
    return new Promise(() => {});
  };
  const made = await resolving(resolve, { requestTimeout: 20, artifacts: [deferred(1), deferred(2)] });
  const fault = 'its bytes could not be fetched: it took longer than 20 ms';
  expect(await shown(made)).toEqual([[note(fault)[0], note(fault)[0]?.slice('done\n'.length)].join('\n')]);
  expect(stopped.map(({ aborted }) => aborted)).toEqual([true, true]);
});

it.each<[string, (made: AdapterRun, own: AbortController) => void, unknown]>([
  ['the run is cancelled', ({ run }) => run.cancel('enough'), 'enough'],
  ['the turn is cancelled', (_, own) => own.abort('stop'), 'stop'],
])('ends with a CancelledError when %s meanwhile', async (_, cancel, cause) => {
  const own = new AbortController();
  const made: AdapterRun = await resolving(() => {
    cancel(made, own);
    return new Promise(() => {});
  });
  const ended = anthropicToolResults(made.tools, message, { signal: own.signal });
  await expect(ended).rejects.toMatchObject({ name: 'CancelledError', cause });
});

it('ends with a DeadlineExceededError when the deadline passes meanwhile', async () => {
  const asked = gate();
  const resolve: Resolve = () => {
    asked.open();
    return new Promise(() => {});
  };
  const ended = shown(await resolving(resolve, { timeout: LIMIT }));
  await asked.passed;
  clock.leap(LIMIT);
  await expect(ended).rejects.toThrow(DeadlineExceededError);
});

it('ignores what it does after it was given up', async () => {
  let reject = (_: Error): void => {};
  const made = await resolving(() => new Promise((_, fail) => (reject = fail)), { requestTimeout: 20 });
  expect(await shown(made)).toHaveLength(1);
  reject(new Error('too late'));
  await delay(0); // an unhandled rejection would be reported by now
});

it('keeps the order and the limit of the turn, whichever artifact arrives first', async () => {
  const image = pngOf(1, 1, 1_000);
  const resolve: Resolve = async ({ reference }) => {
    if (reference === 1) await delay(20);
    return image;
  };
  const made = await resolving(resolve, { artifacts: [deferred(1), deferred(2), deferred(3)] });
  expect(await shown(made, { maxTurnBytes: 2_000 })).toEqual([
    'done',
    'image',
    'image',
    '[Not shown: "later.png" (image/png): with it the turn would have more than 2,000 bytes of artifacts. The application has it.]',
  ]);
});
