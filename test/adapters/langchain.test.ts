import { EventEmitter, once } from 'node:events';
import { MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { HumanMessage, type AIMessage, type ToolMessage } from '@langchain/core/messages';
import { createAgent } from 'langchain';
import {
  Artifact,
  CancelledError,
  DeadlineExceededError,
  McpToolset,
  Tool,
  ToolRegistry,
  ToolResult,
} from 'mcp-toolset';
import { langchainTools, type LangChainToolOptions } from 'mcp-toolset/langchain';
import { createTestServer } from 'mcp-toolset/testing';
import { leapingClock, LIMIT } from '../leaping-clock';
import { startEverything } from '../servers';
import { adapterRun, closeAfterEach } from './adapter-run';
import { awkwardResults, awkwardResultServer, awkwardResultTools, resultTool } from './awkward-results';
import { asSeen, awkwardSchemas, awkwardServer, toolOf } from './awkward-schemas';
import { calling, ScriptedModel, type Call } from './langchain-model';
import { magicOf, pdf, png, pngOf } from './media-bytes';
import { schemaFaults, takes } from './schema-rules';

closeAfterEach();
const clock = leapingClock();

const go = { messages: [new HumanMessage('Go.')] };
const anthropic = { model_provider: 'anthropic' };

/** Has an agent make calls; returns the results that its model was shown. */
async function results(
  tools: ToolRegistry,
  calls: readonly Call[],
  { metadata, ...options }: LangChainToolOptions & { metadata?: Record<string, unknown> } = {},
): Promise<readonly ToolMessage[]> {
  const model = new ScriptedModel([calling(calls, metadata)]);
  const agent = createAgent({ model, tools: langchainTools(tools, options) });
  const { messages } = await agent.invoke(go);
  expect(messages.at(-1)?.text).toBe('Done.');
  return model.results;
}

const one = async (tools: ToolRegistry, name: string, args: unknown = {}): Promise<ToolMessage> => {
  const [message] = await results(tools, [{ id: 'call_1', name, args }], { metadata: anthropic });
  if (!message) throw new Error('no result');
  return message;
};

type Block = Record<string, unknown>;
const blocksOf = ({ content }: ToolMessage): Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;
const textOf = (message: ToolMessage): string =>
  blocksOf(message)
    .flatMap((block) => (typeof block.text === 'string' ? [block.text] : []))
    .join('\n');
const mediaOf = (message: ToolMessage): unknown[] =>
  blocksOf(message).flatMap(({ data, mimeType }) => (data === undefined ? [] : [[magicOf(data as string), mimeType]]));

describe('langchainTools', () => {
  it('R14: presents every awkward schema in a form that providers take, and leaves the registry its own', async () => {
    const { tools } = await adapterRun({ server: awkwardServer() });
    const before = JSON.stringify(tools.specifications);
    const model = new ScriptedModel([]);
    await createAgent({ model, tools: langchainTools(tools) }).invoke(go);
    expect(model.offered.map(({ name }) => name)).toEqual(awkwardSchemas.map(toolOf));
    expect(model.offered.flatMap(({ schema }) => schemaFaults(schema))).toEqual([]);
    const parameters = model.offered.flatMap(({ schema }) =>
      Object.keys((schema as { properties: object }).properties),
    );
    expect(parameters.filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name))).toEqual([]);
    expect(JSON.stringify(tools.specifications)).toBe(before);
  });

  it.each(awkwardSchemas)('takes what the tool takes, under its own names: $title', async (awkward) => {
    const server = awkwardServer();
    const { tools } = await adapterRun({ server });
    const name = toolOf(awkward);
    const schema = langchainTools(tools).find((tool) => tool.name === name)?.schema as Record<string, unknown>;
    const input = asSeen(schema, awkward.input);
    expect(takes(schema, input)).toBe(true);
    expect(textOf(await one(tools, name, input))).toBe('done');
    expect(server.calls).toEqual([{ name, arguments: awkward.input }]);
  });

  it.each(awkwardResults)('presents $title', async (result) => {
    const { tools } = await adapterRun({ server: awkwardResultServer(), entries: awkwardResultTools() });
    const message = await one(tools, resultTool(result));
    expect(message.status).toBe(result.isError ? 'error' : 'success');
    expect(textOf(message)).toMatch(result.isError ? /^Error: / : /(?:)/);
    expect(textOf(message).replace(/^Error: /, '')).toMatch(result.text ?? /(?:)/);
    expect(mediaOf(message)).toEqual((result.media ?? []).map((type) => [type, type]));
    expect(blocksOf(message).every(({ type, text }) => type !== 'text' || /\S/.test(text as string))).toBe(true);
  });

  it('leaves it to the server to judge the arguments, and tells the model what it says', async () => {
    const { tools } = await adapterRun({
      entries: Tool.define({
        name: 'dice',
        description: 'Rolls dice.',
        inputSchema: { type: 'object', properties: { sides: { type: 'integer' } }, required: ['sides'] },
        call: () => 4,
      }),
    });
    const wrong = ['not JSON {', '[1]', ['a list'], 7, null, undefined, '', { sides: 'six' }];
    const calls = wrong.map((args, index) => ({ id: `call_${index}`, name: 'dice', args }));
    const messages = await results(tools, [...calls, { id: 'call_ok', name: 'dice', args: '{"sides":6}' }]);
    expect(messages.map(({ tool_call_id, status }) => [tool_call_id, status])).toEqual([
      ...calls.map(({ id }) => [id, 'error']),
      ['call_ok', 'success'],
    ]);
    for (const message of messages.slice(0, -1)) {
      expect(textOf(message)).toMatch(/^Error: Invalid tool input: /);
      expect(message.artifact).toMatchObject({ status: 'error', artifacts: [] });
    }
    expect(textOf(messages[0]!)).toContain('not JSON');
    expect(textOf(messages[7]!)).toContain('/sides');
  });

  it('goes through a conversation with a real server: parallel calls in order, an image, a failure', async () => {
    const server = await startEverything();
    @McpToolset({ connection: server.connection })
    class EverythingTools {}
    const { tools } = await adapterRun({ entries: EverythingTools });
    const messages = await results(
      tools,
      [
        { id: 'call_1', name: 'echo', args: { message: 'hello' } },
        { id: 'call_2', name: 'get-tiny-image', args: {} },
        { id: 'call_3', name: 'get-sum', args: { a: 'two' } },
        { id: 'call_4', name: 'nothing-like-it', args: {} },
      ],
      { metadata: anthropic },
    );
    expect(messages.map(({ tool_call_id, status, name }) => [tool_call_id, status, name])).toEqual([
      ['call_1', 'success', 'echo'],
      ['call_2', 'success', 'get-tiny-image'],
      ['call_3', 'error', 'get-sum'],
      ['call_4', 'error', 'nothing-like-it'],
    ]);
    expect(messages[0]?.content).toBe('Echo: hello');
    expect(mediaOf(messages[1]!)).toEqual([['image/png', 'image/png']]);
  });

  it.each([
    { stop_reason: 'max_tokens' },
    { finish_reason: 'length' },
    { status: 'incomplete' },
    { stopReason: 'max_tokens' },
    { finishReason: 'MAX_TOKENS' },
  ])('does not carry out the last call of a message that the model could not finish: %j', async (metadata) => {
    const made: unknown[] = [];
    const call = ({ page }: Record<string, unknown>) => void made.push(page);
    const entries = Tool.define({ name: 'note', description: 'x', inputSchema: { type: 'object' }, call });
    const { tools } = await adapterRun({ entries });
    const calls = [1, 2].map((page) => ({ id: `call_${page}`, name: 'note', args: { page } }));
    const shown = await results(tools, calls, { metadata });
    expect(shown.map(({ status, text }) => [status, text.includes('cut off')])).toEqual([
      ['success', false],
      ['error', true],
    ]);
    expect(made).toEqual([1]);
    await results(tools, calls, { metadata: { stop_reason: 'tool_use', finish_reason: 'tool_calls' } });
    expect(made).toEqual([1, 1, 2]);
  });

  it('hands the execution on as the artifact, also through a checkpointer', async () => {
    const { tools } = await adapterRun({
      entries: [
        Tool.define({
          name: 'draw',
          description: 'Draws.',
          inputSchema: { type: 'object' },
          call: () =>
            new ToolResult({
              value: { drawn: 1 },
              artifacts: [Artifact.inline({ data: png, mediaType: 'image/png' })],
            }),
        }),
      ],
    });
    const model = new ScriptedModel([calling([{ id: 'call_1', name: 'draw', args: {} }])]);
    const agent = createAgent({ model, tools: langchainTools(tools), checkpointer: new MemorySaver() });
    const { messages } = await agent.invoke(go, { configurable: { thread_id: '1' } });
    const message = messages.at(-2) as ToolMessage;
    expect(message.artifact).toMatchObject({ status: 'success', value: { drawn: 1 }, artifacts: [{ kind: 'inline' }] });
    const [direct] = langchainTools(tools);
    expect(await direct?.invoke({})).toMatch(/^\{"drawn":1\}/);
  });
});

describe('media', () => {
  const pictures = Tool.define({
    name: 'pictures',
    description: 'An image and a PDF.',
    inputSchema: { type: 'object' },
    call: () =>
      new ToolResult({
        value: 'here',
        artifacts: [
          Artifact.inline({ data: png, mediaType: 'image/png', name: 'a.png' }),
          Artifact.inline({ data: pdf, mediaType: 'application/pdf', name: 'b.pdf' }),
        ],
      }),
  });
  const call = [{ id: 'call_1', name: 'pictures', args: {} }];
  const dataUrl = `data:image/png;base64,${png.toString('base64')}`;

  it.each([
    ['Anthropic', anthropic, ['text', 'image', 'file']],
    ['Bedrock', { model_provider: 'bedrock-converse' }, ['text', 'image_url', 'text']],
    [
      'the Responses API',
      { model_provider: 'openai', object: 'response' },
      ['input_text', 'input_image', 'input_file'],
    ],
    ['Chat Completions', { model_provider: 'openai', object: 'chat.completion' }, ['text']],
    ['a provider that is not known', { model_provider: 'somebody' }, ['text']],
    ['a model that names none', {}, ['text']],
  ])('takes the form that %s takes', async (_, metadata, types) => {
    const { tools } = await adapterRun({ entries: pictures });
    const [message] = await results(tools, call, { metadata });
    expect(blocksOf(message!).map(({ type }) => type)).toEqual(types);
    expect(textOf(message!)).toContain('here');
    const notes = textOf(message!).match(/Not shown: "[ab]\.(png|pdf)"/g) ?? [];
    expect(notes).toHaveLength(3 - types.length + types.filter((type, index) => index > 0 && type === 'text').length);
    if (types.includes('image_url'))
      expect(message!.content).toContainEqual({ type: 'image_url', image_url: { url: dataUrl } });
  });

  it('takes it from a list of messages too', async () => {
    const { tools } = await adapterRun({ entries: pictures });
    const [message] = (await new ToolNode(langchainTools(tools)).invoke([calling(call, anthropic)])) as ToolMessage[];
    expect(mediaOf(message!)).toHaveLength(2);
  });

  it('can be chosen', async () => {
    const { tools } = await adapterRun({ entries: pictures });
    const [message] = await results(tools, call, { metadata: anthropic, media: 'note' });
    expect(typeof message?.content).toBe('string');
    expect(() => langchainTools(tools, { media: 'picture' as 'note' })).toThrow(/langchainTools: option "media"/);
  });

  it('is cut by the limits that were set', async () => {
    const { tools } = await adapterRun({ entries: pictures });
    const [message] = await results(tools, call, {
      metadata: anthropic,
      limits: { maxArtifacts: 1, maxTextLength: 2 },
    });
    expect(mediaOf(message!)).toEqual([['image/png', 'image/png']]);
    expect(textOf(message!)).toMatch(/^he\n\[Cut here: 2 of 4 characters/);
  });
});

describe('the limits of a turn', () => {
  const two = (): Artifact[] => [1, 2].map(() => Artifact.inline({ data: pngOf(1, 1, 600), mediaType: 'image/png' }));
  const Files = Tool.define({
    name: 'files',
    description: 'Two images.',
    inputSchema: { type: 'object' },
    call: () => new ToolResult({ value: 'done', artifacts: two() }),
  });
  const turn = (...ids: string[]) =>
    calling(
      ids.map((id) => ({ id, name: 'files', args: {} })),
      anthropic,
    );

  it.each([{ maxArtifacts: 3 }, { maxTurnBytes: 1_800 }])(
    'hold for all calls of a message together, and for each message anew: %j',
    async (limits) => {
      const { tools } = await adapterRun({ entries: Files });
      const model = new ScriptedModel([turn('a', 'b'), turn('c', 'd')]);
      await createAgent({ model, tools: langchainTools(tools, { limits }) }).invoke(go);
      const images = model.results.map((message) => [message.tool_call_id, mediaOf(message).length]);
      expect(images).toEqual(Object.entries({ c: 2, d: 1 }));
      const node = new ToolNode(langchainTools(tools, { limits }));
      const { messages } = (await node.invoke({ messages: [turn('e', 'f')] })) as { messages: ToolMessage[] };
      expect(messages.map((message) => mediaOf(message).length)).toEqual([2, 1]);
    },
  );
});

describe('the end of a run', () => {
  /** A server whose tool waits until it is told to stop. */
  function waiting() {
    const events = new EventEmitter();
    const started = once(events, 'started');
    const stopped = once(events, 'stopped');
    const server = createTestServer({
      tools: {
        wait: {
          description: 'Waits.',
          call: (_: unknown, { signal }: { signal: AbortSignal }) =>
            new Promise((resolve) => {
              signal.addEventListener('abort', () => resolve(events.emit('stopped')), { once: true });
              events.emit('started');
            }),
        },
        quick: { description: 'Is quick.', call: () => 'quick' },
      },
    });
    return { server, started, stopped };
  }
  const calls = ['wait', 'wait', 'quick'].map((name, index) => ({ id: `call_${index}`, name, args: {} }));

  it('stops the agent with CancelledError, and the server is told', async () => {
    const { server, started, stopped } = waiting();
    const { run, tools } = await adapterRun({ server });
    const model = new ScriptedModel([calling(calls)]);
    const agent = createAgent({ model, tools: langchainTools(tools), signal: run.signal });
    const answer = agent.invoke(go);
    await started;
    run.cancel('the user left');
    const error: unknown = await answer.catch((reason: unknown) => reason);
    expect(CancelledError.is(error)).toBe(true);
    await stopped;
    expect(model.requests).toHaveLength(1);
  });

  it('stops the agent with CancelledError while the model thinks, and before it is asked', async () => {
    const { run, tools } = await adapterRun({ server: createTestServer({ tools: {} }) });
    const model = new ScriptedModel([() => (run.cancel(), calling(calls))]);
    const agent = createAgent({ model, tools: langchainTools(tools), signal: run.signal });
    await expect(agent.invoke(go)).rejects.toThrow(CancelledError);
    expect(model.requests).toHaveLength(1);
    await expect(agent.invoke(go)).rejects.toThrow(CancelledError);
  });

  it('stops the agent with DeadlineExceededError', async () => {
    const { server, started, stopped } = waiting();
    const { run, tools } = await adapterRun({ server, timeout: LIMIT });
    const agent = createAgent({
      model: new ScriptedModel([calling(calls)]),
      tools: langchainTools(tools),
      signal: run.signal,
    });
    const answer = agent.invoke(go);
    await started;
    clock.leap(LIMIT);
    await expect(answer).rejects.toThrow(DeadlineExceededError);
    await stopped;
  });

  it("honours the signal of one invocation, which is not the run's", async () => {
    const { server, started, stopped } = waiting();
    const { run, tools } = await adapterRun({ server });
    const agent = createAgent({ model: new ScriptedModel([calling(calls)]), tools: langchainTools(tools) });
    const turn = new AbortController();
    const answer = agent.invoke(go, { signal: turn.signal });
    await started;
    turn.abort();
    await expect(answer).rejects.toThrow();
    await stopped;
    expect(run.state).toBe('active');
    expect(await tools.execute({ name: 'quick' })).toMatchObject({ content: 'quick' });
  });

  it('is thrown by a ToolNode that does not handle errors; failures of tools are messages there too', async () => {
    const { server, started, stopped } = waiting();
    const { run, tools } = await adapterRun({ server });
    const node = new ToolNode(langchainTools(tools), { handleToolErrors: false });
    const failed = calling([{ id: 'call_1', name: 'quick', args: '{' }]);
    const { messages } = (await node.invoke({ messages: [failed] })) as { messages: ToolMessage[] };
    expect(messages).toMatchObject([{ status: 'error', tool_call_id: 'call_1', name: 'quick' }]);
    const answer = node.invoke({ messages: [calling(calls)] });
    await started;
    run.cancel();
    await expect(answer).rejects.toThrow(CancelledError);
    await stopped;
  });
});

it('serves a graph of its own: ToolNode, with the form that the message names', async () => {
  const server = await startEverything();
  @McpToolset({ connection: server.connection })
  class EverythingTools {}
  const { tools } = await adapterRun({ entries: EverythingTools });
  const model = new ScriptedModel([calling([{ id: 'call_1', name: 'get-tiny-image', args: {} }], anthropic)]);
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('tools', new ToolNode(langchainTools(tools), { handleToolErrors: false }))
    .addEdge('__start__', 'model')
    .addConditionalEdges('model', ({ messages }) =>
      (messages.at(-1) as AIMessage).tool_calls?.length ? 'tools' : '__end__',
    )
    .addEdge('tools', 'model')
    .compile();
  const { messages } = await graph.invoke(go);
  expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
  expect(mediaOf(messages[2] as ToolMessage)).toEqual([['image/png', 'image/png']]);
});
