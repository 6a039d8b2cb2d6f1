/** `npm run sample:openai-agents`: an agent of OpenAI's SDK calls the tools of an MCP server. Without OPENAI_API_KEY a script plays its model. */
import 'reflect-metadata';
import { Agent, OpenAIResponsesModel, Runner, tool, type ToolOutputImage, type ToolOutputText } from '@openai/agents';
import OpenAI from 'openai';
import { container } from 'tsyringe';
import { RunFactory, ToolRegistry } from 'mcp-toolset';
import { openaiAgentsTools } from 'mcp-toolset/openai-agents';
import { ScriptedApi } from './scripted-api';
import { DemoTools } from './tools';

const apiKey = process.env.OPENAI_API_KEY;
const model = process.env.OPENAI_MODEL ?? 'gpt-5';

async function answer(client: OpenAI, question: string): Promise<void> {
  await using run = container.resolve(RunFactory).start({ actorId: 'ada', timeout: 120_000 });
  const registry = run.resolve(ToolRegistry);
  await registry.register(DemoTools);
  const agent = new Agent({
    name: 'Ada’s agent',
    model: new OpenAIResponsesModel(client, model),
    tools: openaiAgentsTools(registry, { tool }),
  });
  const result = await new Runner({ tracingDisabled: true }).run(agent, question, { signal: run.signal });
  for (const item of result.newItems) {
    if (item.type === 'tool_call_item' && item.rawItem.type === 'function_call') {
      console.log(`→ ${item.rawItem.name} ${item.rawItem.arguments}`);
    }
    if (item.type === 'tool_call_output_item') console.log('·', show(item.output));
  }
  console.log(result.finalOutput);
}

function show(output: unknown): string {
  if (!Array.isArray(output)) return String(output);
  const parts = output as (ToolOutputText | ToolOutputImage)[];
  return parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(' ');
}

const response = (...output: object[]) => {
  const usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
  return { id: 'resp_1', object: 'response', status: 'completed', output, usage };
};
const SCRIPT = [
  response(
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'get-sum', arguments: '{"a":19,"b":23}' },
    { type: 'function_call', id: 'fc_2', call_id: 'call_2', name: 'get-tiny-image', arguments: '{}' },
  ),
  response({
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'It is 42, and the image has arrived.', annotations: [] }],
  }),
];

async function main(): Promise<void> {
  const question = 'What is 19 + 23, and what does the tiny image show? Use your tools.';
  if (apiKey) return answer(new OpenAI({ apiKey }), question);
  await using api = await ScriptedApi.start(SCRIPT);
  await answer(new OpenAI({ apiKey: 'none', baseURL: api.url }), question);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
