import { HumanMessage } from '@langchain/core/messages';
import { createAgent } from 'langchain';
import { Artifact, CancelledError, Tool, ToolResult, type ToolRegistry } from 'mcp-toolset';
import { anthropicToolResults, type OnExecution } from 'mcp-toolset/anthropic';
import { langchainTools } from 'mcp-toolset/langchain';
import { openaiChatToolMessages, openaiToolOutputs } from 'mcp-toolset/openai';
import { adapterRun, closeAfterEach } from './adapter-run';
import { generate, majors } from './ai-sdk-loop';
import { calling, ScriptedModel } from './langchain-model';
import { runAgent, ScriptedModel as AgentModel } from './openai-agents-loop';

closeAfterEach();

/** A call as a model writes it. */
interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: object;
}

/** Has the calls made through one adapter; returns everything that the model is shown of them. */
type Adapter = (tools: ToolRegistry, calls: readonly Call[], onExecution: OnExecution) => Promise<unknown>;

const written = ({ name, input }: Call) => ({ name, arguments: JSON.stringify(input) });

const adapters: Record<string, Adapter> = {
  anthropic: (tools, calls, onExecution) => {
    const content = calls.map((call) => ({ type: 'tool_use', ...call }));
    return anthropicToolResults(tools, { content }, { onExecution });
  },
  'openai, Responses': (tools, calls, onExecution) => {
    const output = calls.map((call) => ({ type: 'function_call', call_id: call.id, ...written(call) }));
    return openaiToolOutputs(tools, { output }, { onExecution });
  },
  'openai, Chat Completions': (tools, calls, onExecution) => {
    const tool_calls = calls.map((call) => ({ type: 'function', id: call.id, function: written(call) }));
    return openaiChatToolMessages(tools, { tool_calls }, { onExecution });
  },
  ...Object.fromEntries(
    majors.map((major): [string, Adapter] => [
      major.title,
      async (tools, calls, onExecution) => {
        const { requests } = await generate(major, { tools, turns: [calls, 'Done.'], options: { onExecution } });
        return requests.at(-1)?.prompt;
      },
    ]),
  ),
  langchain: async (tools, calls, onExecution) => {
    const model = new ScriptedModel([calling(calls.map(({ id, name, input: args }) => ({ id, name, args })))]);
    await createAgent({ model, tools: langchainTools(tools, { onExecution }) }).invoke({
      messages: [new HumanMessage('Go.')],
    });
    return model.results.map(({ content }) => content);
  },
  'openai-agents': async (tools, calls, onExecution) => {
    const model = new AgentModel([calls, 'Done.']);
    await runAgent({ tools, model, options: { onExecution } });
    return model.requests.at(-1)?.input;
  },
};

const scan = Artifact.inline({ data: Buffer.from('II*\0'), mediaType: 'image/tiff', name: 'scan.tiff' });
const LONG = 'x'.repeat(100_001);
const entries = [
  Tool.define({
    name: 'scan',
    description: 'x',
    inputSchema: { type: 'object' },
    call: ({ page }) => new ToolResult({ value: `${String(page)} ${LONG}`, artifacts: [scan] }),
  }),
  Tool.define({
    name: 'refuse',
    description: 'x',
    inputSchema: { type: 'object' },
    call: () => Promise.reject(new Error('no paper')),
  }),
];
const calls: Call[] = [
  { id: 'call_1', name: 'scan', input: { page: 1 } },
  { id: 'call_2', name: 'refuse', input: {} },
];

describe.each(Object.entries(adapters))('onExecution of %s', (_, adapter) => {
  it('is told of each call, with what the model is not shown', async () => {
    const { tools } = await adapterRun({ entries });
    const told: unknown[] = [];
    const shown = await adapter(tools, calls, (call, { status, value, content, artifacts, error }) => {
      told.push([call, { status, value, length: content.length, artifacts, error }]);
    });
    expect(told).toEqual([
      [calls[0], { status: 'success', value: `1 ${LONG}`, length: 100_003, artifacts: [scan], error: undefined }],
      [calls[1], { status: 'error', value: undefined, length: 19, artifacts: [], error: new Error('no paper') }],
    ]);
    expect(JSON.stringify(shown)).toContain('3 of 100,003 characters are not shown');
  });

  it('is waited for, and what it throws is logged and changes no answer', async () => {
    const { tools, errors } = await adapterRun({ entries });
    const kept: string[] = [];
    const shown = await adapter(tools, calls, async ({ name }) => {
      await new Promise(setImmediate);
      kept.push(name);
      throw new CancelledError(`no room for ${name}`);
    });
    expect(kept).toEqual(['scan', 'refuse']);
    expect(errors).toEqual([
      'onExecution failed for a call of scan: no room for scan',
      'onExecution failed for a call of refuse: no room for refuse',
    ]);
    expect(JSON.stringify(shown)).toContain('3 of 100,003 characters are not shown');
    expect(JSON.stringify(shown)).toContain('Tool failed (Error)');
  });
});

it('is told of calls that are answered without their tool', async () => {
  const { tools } = await adapterRun({ entries });
  const told: unknown[] = [];
  const output = [
    { type: 'function_call', call_id: 'c1', name: 'unknown', arguments: '{}' },
    { type: 'function_call', call_id: 'c2', name: 'scan', arguments: 'no JSON' },
  ];
  await openaiToolOutputs(tools, { output }, { onExecution: (call, { content }) => void told.push([call, content]) });
  expect(told).toEqual([
    [{ id: 'c1', name: 'unknown', input: {} }, 'Unknown tool: unknown'],
    [
      { id: 'c2', name: 'scan', input: 'no JSON' },
      expect.stringMatching(/^Invalid tool input: expected a JSON object/),
    ],
  ]);
});

it('is waited for no longer than the run lasts', async () => {
  const { tools, run, errors } = await adapterRun({ entries });
  const content = [{ type: 'tool_use', id: 'toolu_1', name: 'scan', input: {} }];
  const onExecution = (): Promise<void> => {
    run.cancel('enough');
    return new Promise(() => {});
  };
  await expect(anthropicToolResults(tools, { content }, { onExecution })).rejects.toMatchObject({ cause: 'enough' });
  expect(errors).toEqual([]);
});

it('is a function, or a ConfigurationError', async () => {
  const { tools } = await adapterRun({ entries });
  const onExecution = 'log' as unknown as OnExecution;
  const message = expect.stringMatching(/: option "onExecution": expected a function$/) as string;
  await expect(anthropicToolResults(tools, { content: [] }, { onExecution })).rejects.toMatchObject({ message });
  expect(() => langchainTools(tools, { onExecution })).toThrow(/option "onExecution": expected a function$/);
});
