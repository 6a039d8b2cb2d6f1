import { once } from 'node:events';
import {
  Artifact,
  CancelledError,
  ConfigurationError,
  DeadlineExceededError,
  McpToolset,
  Tool,
  ToolError,
  ToolResult,
  type ToolDefinition,
} from 'mcp-toolset';
import { aiSdkTools, type AiSdkToolOutput } from 'mcp-toolset/ai-sdk';
import { createTestServer } from 'mcp-toolset/testing';
import { leapingClock, LIMIT } from '../leaping-clock';
import { startEverything } from '../servers';
import { adapterRun, closeAfterEach, waitingTool, type AdapterRun } from './adapter-run';
import { blankTexts, generate, lastResults, majors, mediaOf, stream, textOf, type SentResult } from './ai-sdk-loop';
import { awkwardResults, awkwardResultServer, awkwardResultTools, resultTool } from './awkward-results';
import { asSeen, awkwardSchemas, awkwardServer, toolOf } from './awkward-schemas';
import { pdf, png, pngOf } from './media-bytes';
import { schemaFaults, takes } from './schema-rules';

closeAfterEach();
const clock = leapingClock();

const inputSchema = { type: 'object' };
const defined = (name: string, call: ToolDefinition['call']) =>
  Tool.define({ name, description: 'x', inputSchema, call });
const once1 = (name: string, input: unknown = {}) => [{ id: 'call_1', name, input }];

/** What the SDK reads: its own schema objects, with the JSON Schema in them. */
const schemaOf = (tools: ReturnType<typeof aiSdkTools>, name: string): Record<string, unknown> => {
  const { inputSchema: schema } = tools[name] as unknown as { inputSchema: { jsonSchema: Record<string, unknown> } };
  return schema.jsonSchema;
};

describe.each(majors)('aiSdkTools with $title', (major) => {
  it('R14: presents every awkward schema in a form that every provider takes, and leaves the registry its own', async () => {
    const { tools } = await adapterRun({ server: awkwardServer() });
    const before = JSON.stringify(tools.specifications);
    const { requests } = await generate(major, { tools, turns: ['Done.'] });
    const sent = requests[0]?.tools ?? [];
    expect(sent.map(({ name }) => name)).toEqual(tools.names);
    expect(
      sent.flatMap(({ name, inputSchema: schema }) => schemaFaults(schema).map((fault) => `${name}: ${fault}`)),
    ).toEqual([]);
    const parameters = sent.flatMap(({ inputSchema: schema }) => Object.keys(schema.properties as object));
    expect(parameters.filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name))).toEqual([]);
    expect(JSON.stringify(tools.specifications)).toBe(before);
  });

  it.each(awkwardSchemas)('takes what the tool takes, under its own names: $title', async (awkward) => {
    const server = awkwardServer();
    const { tools } = await adapterRun({ server });
    const name = toolOf(awkward);
    const schema = schemaOf(aiSdkTools(tools), name);
    const input = asSeen(schema, awkward.input);
    expect(takes(schema, input)).toBe(true);
    const { requests } = await generate(major, { tools, turns: [once1(name, input), 'Done.'] });
    expect(lastResults(requests).map(textOf)).toEqual(['done']);
    expect(server.calls).toEqual([{ name, arguments: awkward.input }]);
  });

  it.each(awkwardResults)('presents $title', async (result) => {
    const { tools } = await adapterRun({ server: awkwardResultServer(), entries: awkwardResultTools() });
    const { requests } = await generate(major, { tools, turns: [once1(resultTool(result)), 'Done.'] });
    const [sent] = lastResults(requests);
    if (!sent) throw new Error('no result');
    expect(sent.output.type === 'error-text').toBe(result.isError ?? false);
    expect(textOf(sent)).toMatch(result.text ?? /(?:)/);
    expect(mediaOf(sent, major)).toEqual(result.media ?? []);
    expect(blankTexts(sent)).toEqual([]);
  });

  it('goes through a whole conversation with a real server: parallel calls in order, an image, failures', async () => {
    const server = await startEverything();
    @McpToolset({ connection: server.connection })
    class EverythingTools {}
    const { tools } = await adapterRun({ entries: EverythingTools });
    const turns = [
      [
        { id: 'call_1', name: 'echo', input: { message: 'hello' } },
        { id: 'call_2', name: 'get-tiny-image', input: {} },
        { id: 'call_3', name: 'get-sum', input: { a: 2, b: 3 } },
      ],
      [
        { id: 'call_4', name: 'get-sum', input: { a: 'two' } },
        { id: 'call_5', name: 'constructor', input: {} },
        { id: 'call_6', name: 'echo', input: '{"message": "hel' },
        { id: 'call_7', name: 'echo', input: '["hello"]' },
        { id: 'call_8', name: 'echo', input: '{"message": "hello", "__proto__": {}}' },
      ],
      'Done.',
    ];
    for (const run of [generate, stream]) {
      const { text, requests } = await run(major, { tools, turns });
      expect(text).toBe('Done.');
      const [first, second] = [requests.slice(0, 2), requests].map((seen) => lastResults(seen));
      const inOrder = [...(first ?? [])].sort((a, b) => a.toolCallId.localeCompare(b.toolCallId));
      expect(inOrder.map(textOf)).toEqual([
        'Echo: hello',
        expect.stringContaining('image'),
        'The sum of 2 and 3 is 5.',
      ]);
      expect(inOrder.map((result) => mediaOf(result, major))).toEqual([[], ['image/png'], []]);
      const failures = Object.fromEntries((second ?? []).map((result) => [result.toolCallId, result.output]));
      expect(failures).toEqual({
        call_4: { type: 'error-text', value: expect.stringContaining('a') },
        call_5: {
          type: 'error-text',
          value: expect.stringMatching(/constructor.*unavailable|unavailable.*constructor/),
        },
        call_6: { type: 'error-text', value: expect.stringMatching(/JSON/) },
        call_7: { type: 'error-text', value: expect.stringMatching(/^Invalid tool input: /) },
        call_8: { type: 'error-text', value: expect.stringContaining('__proto__') },
      });
    }
  });

  it('runs the calls of a step in parallel', async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const slow = defined('slow', (_, { callId }) => released.then(() => callId));
    const fast = defined('fast', (_, { callId }) => (release(), callId));
    const { tools } = await adapterRun({ entries: [slow, fast] });
    const turn = ['slow', 'fast'].map((name) => ({ id: name, name, input: {} }));
    const { requests } = await generate(major, { tools, turns: [turn, 'Done.'] });
    expect(lastResults(requests).map(textOf)).toEqual(['slow', 'fast']);
  });

  it('is not asked for a call that the model could not finish: the SDK makes none', async () => {
    const made: string[] = [];
    const { tools } = await adapterRun({ entries: defined('note', () => void made.push('note')) });
    const { requests, steps } = await generate(major, { tools, turns: [once1('note')], finishReason: 'length' });
    expect(requests).toHaveLength(1);
    expect(steps[0]?.finishReason).toBe('length');
    expect(made).toEqual([]);
  });

  it('gives the application the output as plain data, and a failure as a ToolError with its cause', async () => {
    const cause = new TypeError('secret');
    const artifacts = [Artifact.inline({ data: pdf, mediaType: 'application/pdf', name: 'invoice.pdf' })];
    const bill = defined('bill', () => new ToolResult({ value: { total: 7 }, artifacts }));
    const fail = defined('fail', () => {
      throw cause;
    });
    const { tools } = await adapterRun({ entries: [bill, fail] });
    const turn = ['bill', 'fail'].map((name) => ({ id: name, name, input: {} }));
    const { steps } = await generate(major, { tools, turns: [turn, 'Done.'] });
    const content = steps[0]?.content ?? [];
    const output: AiSdkToolOutput = {
      text: '{"total":7}',
      files: [{ kind: 'document', mediaType: 'application/pdf', base64: pdf.toString('base64'), name: 'invoice.pdf' }],
    };
    expect(content.filter(({ type }) => type === 'tool-result')).toMatchObject([{ toolCallId: 'bill', output }]);
    const [failure] = content.flatMap((part) => (part.type === 'tool-error' ? [part.error] : []));
    expect(failure).toBeInstanceOf(ToolError);
    expect(failure).toMatchObject({ message: 'Tool failed (TypeError)', cause });
  });

  it('presents the outputs once more when they come back from a client, those of other programs too', async () => {
    const { tools } = await adapterRun({ server: awkwardResultServer() });
    const kept = JSON.parse(JSON.stringify({ text: 'a chart', files: [imagePart] })) as AiSdkToolOutput;
    const set = aiSdkTools(tools);
    const toolName = 'result_0';
    const outputs = [kept, { rows: 1 }, ' ', null];
    const parts = outputs.map((output, index) => {
      const part = { type: 'dynamic-tool', state: 'output-available', toolName, toolCallId: `call_${index}` } as const;
      return { ...part, input: {}, output };
    });
    const messages = await major.ai.convertToModelMessages([{ role: 'assistant', parts }], { tools: set });
    for (const message of messages) major.ai.modelMessageSchema.parse(message);
    const sent = messages.at(-1)?.content as unknown as SentResult[];
    expect(sent.map(textOf)).toEqual(['a chart', '{"rows":1}', 'The tool returned nothing.', 'null']);
    expect(sent.map((result) => mediaOf(result, major))).toEqual([['image/png'], [], [], []]);
  });

  it('shows no media where the application says so', async () => {
    const artifacts = [Artifact.inline({ data: png, mediaType: 'image/png', name: 'a.png' })];
    const { tools } = await adapterRun({
      entries: defined('chart', () => new ToolResult({ value: 'a chart', artifacts })),
    });
    const { requests } = await generate(major, { tools, turns: [once1('chart'), 'Done.'], options: { media: 'note' } });
    expect(lastResults(requests)).toMatchObject([
      { output: { type: 'text', value: expect.stringContaining('Not shown: "a.png"') } },
    ]);
  });

  it('bounds the artifacts of all calls of a step together, and of each step anew', async () => {
    const artifacts = [1, 2].map(() => Artifact.inline({ data: pngOf(1, 1, 600), mediaType: 'image/png' }));
    const { tools } = await adapterRun({
      entries: defined('files', () => new ToolResult({ value: 'done', artifacts })),
    });
    const turn = ['a', 'b'].map((id) => ({ id, name: 'files', input: {} }));
    for (const limits of [{ maxArtifacts: 3 }, { maxTurnBytes: 1_800 }]) {
      const { requests } = await generate(major, { tools, turns: [turn, turn, 'Done.'], options: { limits } });
      const counts = [requests.slice(0, 2), requests].map(
        (seen) => lastResults(seen).flatMap((result) => mediaOf(result, major)).length,
      );
      expect(counts).toEqual([3, 3]);
    }
  });
});

const imagePart = { kind: 'image', mediaType: 'image/png', base64: png.toString('base64'), name: 'chart.png' };

describe.each(majors)('the end of a loop with $title', (major) => {
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
  const turns = [[...once1('end'), { id: 'call_2', name: 'fine', input: {} }], 'Never said.'];

  it('is a CancelledError of generateText when the run is cancelled', async () => {
    const { tools } = await endingRun();
    const ended = generate(major, { tools, turns });
    await expect(ended).rejects.toThrow(CancelledError);
    await expect(ended).rejects.toMatchObject({ cause: 'enough' });
    // Not begun once more either.
    await expect(generate(major, { tools, turns: ['Never said.'] })).rejects.toThrow(CancelledError);
  });

  it('is a CancelledError of generateText that has the signal of the run', async () => {
    const { tools, run } = await endingRun();
    await expect(generate(major, { tools, turns, abortSignal: run.signal })).rejects.toThrow(CancelledError);
  });

  it("is an error of streamText's stream when the run is cancelled", async () => {
    const { tools } = await endingRun();
    const { parts, errors, requests } = await stream(major, { tools, turns });
    expect(errors).toEqual([expect.any(CancelledError)]);
    expect(parts.at(-1)).toMatchObject({ type: 'error', error: errors[0] });
    expect(requests).toHaveLength(1);
  });

  it('is an abort of a stream that has the signal of the run, and the rejection of its text', async () => {
    const { tools, run } = await endingRun();
    const told: string[] = [];
    const result = major.ai.streamText({
      model: major.model(turns) as never,
      prompt: 'Go.',
      tools: aiSdkTools(tools),
      stopWhen: major.ai.stepCountIs(5),
      abortSignal: run.signal,
      onAbort: () => void told.push('abort'),
      onError: () => void told.push('error'),
    });
    const types: string[] = [];
    for await (const { type } of result.fullStream) types.push(type);
    expect(types.at(-1)).toBe('abort');
    expect(types).not.toContain('error');
    expect(told).toEqual(['abort']);
    await expect(Promise.resolve(result.text)).rejects.toThrow();
    expect(() => run.check()).toThrow(CancelledError);
  });

  it('is a CancelledError when the run is cancelled between the steps', async () => {
    const { tools, run } = await adapterRun({ entries: defined('fine', () => 'fine') });
    const set = aiSdkTools(tools);
    const asked = major.ai.generateText({
      model: major.model([once1('fine'), 'Never said.']) as never,
      prompt: 'Go.',
      tools: set,
      stopWhen: major.ai.stepCountIs(5),
      onStepFinish: () => run.cancel(),
    });
    await expect(asked).rejects.toThrow(CancelledError);
  });

  it('is a DeadlineExceededError when the deadline passes', async () => {
    const { wait, called } = waitingTool();
    const { tools } = await adapterRun({ entries: wait, timeout: LIMIT });
    const ended = generate(major, { tools, turns: [once1('wait'), 'Never said.'] });
    await called;
    clock.leap(LIMIT);
    await expect(ended).rejects.toThrow(DeadlineExceededError);
  });

  it('is a ConfigurationError where the registry was closed', async () => {
    const { tools } = await adapterRun({ entries: defined('fine', () => 'fine') });
    await tools.close();
    const ended = generate(major, { tools, turns: [once1('fine'), 'Never said.'] });
    await expect(ended).rejects.toThrow(ConfigurationError);
  });

  it("tells the server when the call's own signal aborts, and leaves the run alone", async () => {
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
    const set = aiSdkTools(tools);
    const ended = generate(major, { tools, set, turns: [once1('wait'), 'Never said.'], abortSignal: own.signal });
    await expect(ended).rejects.toThrow('the user has left');
    await Promise.all(told);
    expect(told).toHaveLength(1);
    expect(run.state).toBe('active');
    expect((await generate(major, { tools, set, turns: [once1('fine'), 'Done.'] })).text).toBe('Done.');
  });
});

describe('the options of aiSdkTools', () => {
  it.each([
    [{ limits: { maxText: 5 } }, 'unknown option "limits.maxText"'],
    [{ media: 'parts' }, 'option "media": expected'],
    [{ strict: true }, `option "strict": expected false or 'where-fit'`],
    [{ signal: new AbortController().signal }, 'unknown option "signal"'],
  ])('are checked: %j', async (options, message) => {
    const { tools } = await adapterRun({});
    expect(() => aiSdkTools(tools, options as object)).toThrow(ConfigurationError);
    expect(() => aiSdkTools(tools, options as object)).toThrow(`aiSdkTools: ${message}`);
  });

  it('say how much of a description is shown, and which tools are strict', async () => {
    const closed = { type: 'object', properties: {}, required: [], additionalProperties: false };
    const call = () => '';
    const Long = Tool.define({ name: 'long', description: 'x'.repeat(3_000), inputSchema, call });
    const Closed = Tool.define({ name: 'closed', description: 'x', inputSchema: closed, call });
    const { tools } = await adapterRun({ entries: [Long, Closed] });
    const shown = (set: ReturnType<typeof aiSdkTools>) =>
      Object.values(set).map((tool) => [tool.description?.length, (tool as { strict?: boolean }).strict]);
    expect(shown(aiSdkTools(tools))).toEqual([
      [1_024, false],
      [1, false],
    ]);
    expect(shown(aiSdkTools(tools, { strict: 'where-fit', maxDescriptionLength: 5_000 }))).toEqual([
      [3_000, false],
      [1, true],
    ]);
  });
});
