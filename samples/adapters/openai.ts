/** `npm run sample:openai`: a model of OpenAI calls the tools of an MCP server. Without OPENAI_API_KEY a script plays it. */
import 'reflect-metadata';
import OpenAI from 'openai';
import { container } from 'tsyringe';
import { RunFactory, ToolRegistry } from 'mcp-toolset';
import { openaiToolOutputs, openaiTools } from 'mcp-toolset/openai';
import { ScriptedApi } from './scripted-api';
import { DemoTools } from './tools';

const apiKey = process.env.OPENAI_API_KEY;
const model = process.env.OPENAI_MODEL ?? 'gpt-5';

async function answer(client: OpenAI, question: string): Promise<void> {
  await using run = container.resolve(RunFactory).start({ actorId: 'ada', timeout: 120_000 });
  const registry = run.resolve(ToolRegistry);
  await registry.register(DemoTools);
  const tools = openaiTools(registry);
  const { signal } = run;
  let response = await client.responses.create({ model, tools, input: question }, { signal });
  for (;;) {
    for (const item of response.output) {
      if (item.type === 'function_call') console.log(`→ ${item.name} ${item.arguments}`);
    }
    const input = await openaiToolOutputs(registry, response);
    if (input.length === 0) return console.log(response.output_text);
    for (const { output } of input) console.log('·', typeof output === 'string' ? output : output.map(show).join(' '));
    const previous_response_id = response.id;
    response = await client.responses.create({ model, tools, input, previous_response_id }, { signal });
  }
}

function show(part: OpenAI.Responses.ResponseFunctionCallOutputItem): string {
  return part.type === 'input_text' ? part.text : `[${part.type}]`;
}

const response = (...output: object[]) => ({ id: 'resp_1', object: 'response', status: 'completed', output });
const SCRIPT = [
  response(
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'get-sum', arguments: '{"a":19,"b":23}' },
    { type: 'function_call', id: 'fc_2', call_id: 'call_2', name: 'get-tiny-image', arguments: '{}' },
  ),
  response({
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
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
