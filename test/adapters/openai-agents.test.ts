import { once } from 'node:events';
import { Agent, Runner, tool } from '@openai/agents';
import {
  Artifact,
  ArtifactResolver,
  CancelledError,
  ConfigurationError,
  DeadlineExceededError,
  McpToolset,
  Tool,
  ToolResult,
  type ArtifactResolverContext,
  type ToolDefinition,
} from 'mcp-toolset';
import { openaiAgentsTools } from 'mcp-toolset/openai-agents';
import { createTestServer } from 'mcp-toolset/testing';
import { leapingClock, LIMIT } from '../leaping-clock';
import { startEverything } from '../servers';
import { adapterRun, closeAfterEach, waitingTool, type AdapterRun } from './adapter-run';
import { awkwardResults, awkwardResultServer, awkwardResultTools, resultTool } from './awkward-results';
import { awkwardSchemas, awkwardServer, toolOf } from './awkward-schemas';
import { png, pngOf } from './media-bytes';
import { apiModel, runAgent, ScriptedModel, streamAgent } from './openai-agents-loop';
import { takes } from './schema-rules';
import type { ScriptedApi } from './scripted-api';

closeAfterEach();
const clock = leapingClock();

const inputSchema = { type: 'object' };
const defined = (name: string, call: ToolDefinition['call']) =>
  Tool.define({ name, description: 'x', inputSchema, call });
const runs = [
  { title: 'run', run: runAgent },
  { title: 'a streamed run', run: streamAgent },
];
const calling = (name: string, input: unknown = {}) => [{ id: 'call_1', name, input }];

type Part = { type: string; text?: string; image_url?: string; file_data?: string };
type Output = { type: string; call_id: string; output: string | Part[] };

/** What the last request says that the tools have answered. */
function outputs({ last }: ScriptedApi): Output[] {
  return (last.input as Output[]).filter(({ type }) => type === 'function_call_output');
}

const partsOf = ({ output }: Output): Part[] =>
  typeof output === 'string' ? [{ type: 'input_text', text: output }] : output;
const textOf = (output: Output): string =>
  partsOf(output)
    .flatMap(({ text }) => text ?? [])
    .join('\n');
const mediaOf = (output: Output): string[] =>
  partsOf(output).flatMap(({ image_url, file_data }) => /^data:([^;]+);/.exec(image_url ?? file_data ?? '')?.[1] ?? []);

describe('openaiAgentsTools', () => {
  it.each([undefined, 'where-fit'] as const)(
    'R14: presents every awkward schema in a form that the API takes (strict: %s)',
    async (strict) => {
      const { tools } = await adapterRun({ server: awkwardServer() });
      const before = JSON.stringify(tools.specifications);
      const { endpoint, model } = await apiModel('responses', ['Done.']);
      await runAgent({ tools, model, options: { strict } });
      const sent = endpoint.last.tools as { name: string; description: string; strict: boolean }[];
      expect(sent.map(({ name }) => name)).toEqual(tools.names);
      const fits = sent.filter((made) => made.strict).map(({ description }) => description);
      expect(fits).toEqual(strict ? ['A tool: one closed object, all required.'] : []);
      expect(JSON.stringify(tools.specifications)).toBe(before);
    },
  );

  it.each(awkwardSchemas)('takes what the tool takes: $title', async (awkward) => {
    const server = awkwardServer();
    const { tools } = await adapterRun({ server });
    const name = toolOf(awkward);
    const made = openaiAgentsTools(tools, { tool }).find((candidate) => candidate.name === name);
    expect(made && 'parameters' in made && takes(made.parameters, awkward.input)).toBe(true);
    const { endpoint, model } = await apiModel('responses', [calling(name, awkward.input), 'Done.']);
    await runAgent({ tools, model });
    expect(outputs(endpoint).map(textOf)).toEqual(['done']);
    expect(server.calls).toEqual([{ name, arguments: awkward.input }]);
  });

  it.each(awkwardResults)('presents $title', async (result) => {
    const { tools } = await adapterRun({ server: awkwardResultServer(), entries: awkwardResultTools() });
    const { endpoint, model } = await apiModel('responses', [calling(resultTool(result)), 'Done.']);
    await runAgent({ tools, model });
    const [output] = outputs(endpoint);
    if (!output) throw new Error('no result');
    expect(textOf(output).startsWith('Error: ')).toBe(result.isError ?? false);
    const text = textOf(output).replace(/^Error: /, '');
    expect(text).toMatch(result.text ?? /(?:)/);
    // With a failed call this API takes images too.
    expect(mediaOf(output)).toEqual(result.media ?? (result.title === 'a failure with an image' ? ['image/png'] : []));
  });

  it.each(runs)(
    'goes through a whole conversation with a real server: parallel calls in order, an image, failures ($title)',
    async ({ run }) => {
      const server = await startEverything();
      @McpToolset({ connection: server.connection })
      class EverythingTools {}
      const { tools } = await adapterRun({ entries: EverythingTools });
      const model = new ScriptedModel([
        [
          { id: 'call_1', name: 'echo', input: { message: 'hello' } },
          { id: 'call_2', name: 'get-tiny-image', input: {} },
          { id: 'call_3', name: 'get-sum', input: { a: 2, b: 3 } },
        ],
        [
          { id: 'call_4', name: 'get-sum', input: { a: 'two' } },
          { id: 'call_5', name: 'echo', input: '{"message": "hel' },
          { id: 'call_6', name: 'echo', input: '["hello"]' },
          { id: 'call_7', name: 'echo', input: '' },
        ],
        'Done.',
      ]);
      const { text, history } = await run({ tools, model });
      expect(text).toBe('Done.');
      const answered = history.flatMap((item) => (item.type === 'function_call_result' ? [item] : []));
      const answers = Object.fromEntries(answered.map(({ callId, output }) => [callId, output]));
      const said = (words: unknown) => ({ type: 'text', text: words });
      expect(answers).toMatchObject({
        call_1: said('Echo: hello'),
        call_3: said('The sum of 2 and 3 is 5.'),
        call_4: said(expect.stringMatching(/^Error: /)),
        call_5: said(expect.stringMatching(/valid JSON/)),
        call_6: said(expect.stringMatching(/^Error: Invalid tool input: /)),
        call_7: said(expect.stringMatching(/valid JSON/)),
      });
      const image = { type: 'input_image', image: expect.stringMatching(/^data:image\/png;base64,/) };
      expect(answers.call_2).toContainEqual(image);
      expect(answered.map(({ callId }) => callId)).toEqual([1, 2, 3, 4, 5, 6, 7].map((number) => `call_${number}`));
    },
  );

  it('runs the calls of a turn in parallel', async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const slow = defined('slow', (_, { callId }) => released.then(() => callId));
    const fast = defined('fast', (_, { callId }) => (release(), callId));
    const { tools } = await adapterRun({ entries: [slow, fast] });
    const turn = ['slow', 'fast'].map((name) => ({ id: name, name, input: {} }));
    const { history } = await runAgent({ tools, model: new ScriptedModel([turn, 'Done.']) });
    const answered = history.flatMap((item) => (item.type === 'function_call_result' ? [item.output] : []));
    expect(answered).toMatchObject([{ text: 'slow' }, { text: 'fast' }]);
  });

  it('leaves notes in the place of media for Chat Completions', async () => {
    const artifacts = [Artifact.inline({ data: png, mediaType: 'image/png', name: 'a.png' })];
    const { tools } = await adapterRun({ entries: defined('chart', () => new ToolResult({ value: '', artifacts })) });
    const { endpoint, model } = await apiModel('chat', [calling('chart'), 'Done.']);
    await runAgent({ tools, model, options: { media: 'note' } });
    expect((endpoint.last.messages as object[]).at(-1)).toMatchObject({
      role: 'tool',
      content: expect.stringContaining('Not shown: "a.png"'),
    });
  });

  it('bounds the artifacts of all calls of a turn together, and of each turn anew', async () => {
    const artifacts = [1, 2].map(() => Artifact.inline({ data: pngOf(1, 1, 600), mediaType: 'image/png' }));
    const { tools } = await adapterRun({
      entries: defined('files', () => new ToolResult({ value: 'done', artifacts })),
    });
    const turn = (...ids: string[]) => ids.map((id) => ({ id, name: 'files', input: {} }));
    for (const limits of [{ maxArtifacts: 3 }, { maxTurnBytes: 1_800 }]) {
      const { endpoint, model } = await apiModel('responses', [turn('a', 'b'), turn('c', 'd'), 'Done.']);
      await runAgent({ tools, model, options: { limits } });
      expect(outputs(endpoint).map((output) => mediaOf(output).length)).toEqual([2, 1, 2, 1]);
    }
  });

  it('serve an agent that is the tool of another', async () => {
    const { tools } = await adapterRun({ entries: defined('look-up', () => 'found') });
    const inner = new ScriptedModel([calling('look-up'), 'It is found.']);
    const expert = new Agent({ name: 'expert', model: inner, tools: openaiAgentsTools(tools, { tool }) });
    const asked = expert.asTool({ toolName: 'ask', toolDescription: 'x' });
    const outer = new ScriptedModel([calling('ask', { input: 'Where?' }), 'Done.']);
    const { text } = await runAgent({ tools, model: outer, agent: { tools: [asked] } });
    expect(text).toBe('Done.');
    expect(inner.requests).toHaveLength(2);
  });
});

describe.each(runs)('the end of an agent ($title)', ({ run }) => {
  /** A run whose tool ends it. */
  async function endingRun(): Promise<AdapterRun> {
    const made: AdapterRun = await adapterRun({
      entries: [
        defined('end', () => {
          made.run.cancel('enough');
          return new Promise(() => {});
        }),
        defined('fine', () => 'fine'),
      ],
    });
    return made;
  }
  const turns = [[...calling('end'), { id: 'call_2', name: 'fine', input: {} }], 'Never said.'];

  it('is a CancelledError when the run is cancelled', async () => {
    const { tools } = await endingRun();
    const model = new ScriptedModel(turns);
    const ended = run({ tools, model });
    await expect(ended).rejects.toThrow(CancelledError);
    await expect(ended).rejects.toMatchObject({ cause: 'enough' });
    expect(model.requests).toHaveLength(1);
    await expect(run({ tools, model: new ScriptedModel(['Never said.']) })).rejects.toThrow(CancelledError);
  });

  it("is the SDK's ToolCallError, with the CancelledError, where results do not go to the model", async () => {
    const { tools } = await endingRun();
    const agent = { toolUseBehavior: 'stop_on_first_tool' as const };
    const ended = run({ tools, model: new ScriptedModel(turns), agent });
    await expect(ended).rejects.toMatchObject({
      name: 'ToolCallError',
      error: { name: 'CancelledError', cause: 'enough' },
    });
  });

  it('is a CancelledError when the run is cancelled between the turns', async () => {
    const { tools, run: own } = await adapterRun({ entries: defined('fine', () => 'fine') });
    const model = new ScriptedModel([calling('fine'), 'Never said.']);
    const respond = model.getResponse.bind(model);
    jest.spyOn(model, 'getResponse').mockImplementation(async (request) => {
      const response = await respond(request);
      own.cancel('while the model was thinking');
      return response;
    });
    await expect(run({ tools, model })).rejects.toMatchObject({ name: 'CancelledError' });
    expect(model.requests).toHaveLength(1);
  });

  it('is a DeadlineExceededError when the deadline passes', async () => {
    const { wait, called } = waitingTool();
    const { tools } = await adapterRun({ entries: wait, timeout: LIMIT });
    const ended = run({ tools, model: new ScriptedModel([calling('wait'), 'Never said.']) });
    await called;
    clock.leap(LIMIT);
    await expect(ended).rejects.toThrow(DeadlineExceededError);
  });

  it('is a ConfigurationError where the registry was closed', async () => {
    const { tools } = await adapterRun({ entries: defined('fine', () => 'fine') });
    await tools.close();
    const ended = run({ tools, model: new ScriptedModel([calling('fine'), 'Never said.']) });
    await expect(ended).rejects.toThrow(ConfigurationError);
  });
});

describe("the signal of the SDK's own run", () => {
  it('reaches the server, ends the agent with its reason, and leaves the run alone', async () => {
    const told: Promise<unknown>[] = [];
    const own = new AbortController();
    const server = createTestServer({
      tools: {
        wait: {
          call: (_, { signal }) => {
            told.push(once(signal, 'abort'));
            own.abort(new Error('the user has left'));
            return new Promise(() => {});
          },
        },
      },
    });
    const { tools, run } = await adapterRun({ server, entries: defined('fine', () => 'fine') });
    const agent = { tools: openaiAgentsTools(tools, { tool }) };
    const model = new ScriptedModel([calling('wait'), 'Never said.']);
    await expect(runAgent({ tools, agent, model, signal: own.signal })).rejects.toThrow('the user has left');
    await Promise.all(told);
    expect(told).toHaveLength(1);
    expect(run.state).toBe('active');
    const { text } = await runAgent({ tools, agent, model: new ScriptedModel([calling('fine'), 'Done.']) });
    expect(text).toBe('Done.');
  });

  it('reaches the ArtifactResolver', async () => {
    const own = new AbortController();
    const seen: boolean[] = [];
    class Leaving extends ArtifactResolver {
      override resolve(_: unknown, { signal }: ArtifactResolverContext) {
        own.abort(new Error('the user has left'));
        seen.push(signal.aborted);
        return undefined;
      }
    }
    const artifacts = [Artifact.deferred({ reference: 1, mediaType: 'image/png' })];
    const { tools, run } = await adapterRun({
      entries: defined('chart', () => new ToolResult({ value: '', artifacts })),
    });
    run.container.register(ArtifactResolver, { useClass: Leaving });
    const model = new ScriptedModel([calling('chart'), 'Never said.']);
    await expect(runAgent({ tools, model, signal: own.signal })).rejects.toThrow('the user has left');
    expect(seen).toEqual([true]);
  });

  it("may be the run's", async () => {
    const made: AdapterRun = await adapterRun({
      entries: defined('end', () => {
        made.run.cancel('enough');
        return new Promise(() => {});
      }),
    });
    const model = new ScriptedModel([calling('end'), 'Never said.']);
    const ended = runAgent({ tools: made.tools, model, signal: made.run.signal });
    await expect(ended).rejects.toThrow(CancelledError);
  });
});

it('does not carry out a call that the model could not finish', async () => {
  const made: string[] = [];
  const { tools } = await adapterRun({ entries: defined('note', () => void made.push('note')) });
  const model = new ScriptedModel([[{ id: 'call_1', name: 'note', input: {}, status: 'incomplete' }], 'Done.']);
  await runAgent({ tools, model });
  expect(JSON.stringify(model.requests.at(-1)?.input)).toContain('cut off');
  expect(made).toEqual([]);
});

it("is told by the run alone where a stream has the run's signal", async () => {
  const made: AdapterRun = await adapterRun({
    entries: defined('end', () => {
      made.run.cancel('enough');
      return new Promise(() => {});
    }),
  });
  const agent = new Agent({
    name: 'agent',
    model: new ScriptedModel([calling('end'), 'Never said.']),
    tools: openaiAgentsTools(made.tools, { tool }),
  });
  const given = { stream: true as const, signal: made.run.signal };
  const streamed = await new Runner({ tracingDisabled: true }).run(agent, 'Go.', given);
  for await (const event of streamed) void event;
  await streamed.completed;
  expect(streamed.error).toBeNull();
  expect(() => made.run.check()).toThrow(CancelledError);
});

describe('the options of openaiAgentsTools', () => {
  it.each([
    [{ tool, limits: { maxText: 5 } }, 'unknown option "limits.maxText"'],
    [{ tool, media: 'content' }, 'option "media": expected'],
    [{ tool, strict: true }, `option "strict": expected false or 'where-fit'`],
    [{}, 'option "tool": expected a function'],
    [undefined, 'option "tool": expected a function'],
  ])('are checked: %j', async (options, message) => {
    const { tools } = await adapterRun({});
    const made = (): unknown => openaiAgentsTools(tools, options as never);
    expect(made).toThrow(ConfigurationError);
    expect(made).toThrow(`openaiAgentsTools: ${message}`);
  });

  it('say how much of a description is shown', async () => {
    const Long = Tool.define({ name: 'long', description: 'x'.repeat(3_000), inputSchema, call: () => '' });
    const { tools } = await adapterRun({ entries: Long });
    const shown = (maxDescriptionLength?: number) =>
      openaiAgentsTools(tools, { tool, maxDescriptionLength }).map((made) => 'description' in made && made.description);
    expect(shown()).toEqual([expect.stringMatching(/^x{1023}…$/)]);
    expect(shown(5_000)).toEqual(['x'.repeat(3_000)]);
  });
});
