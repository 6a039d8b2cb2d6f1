/** `npm run sample:anthropic`: Claude calls the tools of an MCP server. Without ANTHROPIC_API_KEY a script plays Claude. */
import 'reflect-metadata';
import Anthropic from '@anthropic-ai/sdk';
import { container } from 'tsyringe';
import { RunFactory, ToolRegistry } from 'mcp-toolset';
import { anthropicToolResults, anthropicTools } from 'mcp-toolset/anthropic';
import { ScriptedApi } from './scripted-api';
import { DemoTools } from './tools';

const apiKey = process.env.ANTHROPIC_API_KEY;
const model = process.env.ANTHROPIC_MODEL ?? 'claude-sonnet-4-5';

async function answer(client: Anthropic, question: string): Promise<void> {
  await using run = container.resolve(RunFactory).start({ actorId: 'ada', timeout: 120_000 });
  const registry = run.resolve(ToolRegistry);
  await registry.register(DemoTools);
  const tools = anthropicTools(registry);
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }];
  for (;;) {
    const request = { model, max_tokens: 1_024, tools, messages };
    const message = await client.messages.create(request, { signal: run.signal });
    for (const block of message.content) {
      if (block.type === 'text') console.log(block.text);
      if (block.type === 'tool_use') console.log(`→ ${block.name} ${JSON.stringify(block.input)}`);
    }
    const results = await anthropicToolResults(registry, message);
    if (results.length === 0) return;
    for (const { content, is_error } of results) console.log(is_error ? '✗' : '✓', show(content));
    messages.push({ role: 'assistant', content: message.content }, { role: 'user', content: results });
  }
}

function show(content: Anthropic.ToolResultBlockParam['content']): string {
  const blocks = Array.isArray(content) ? content : [];
  return blocks.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join(' ');
}

const turn = (stop_reason: string, ...content: object[]) => {
  return { id: 'msg_1', type: 'message', role: 'assistant', model: 'script', stop_reason, content, usage: {} };
};
const SCRIPT = [
  turn(
    'tool_use',
    { type: 'text', text: 'I will add, and look at the image.' },
    { type: 'tool_use', id: 'toolu_1', name: 'get-sum', input: { a: 19, b: 23 } },
    { type: 'tool_use', id: 'toolu_2', name: 'get-tiny-image', input: {} },
  ),
  turn('end_turn', { type: 'text', text: 'It is 42, and the image has arrived.' }),
];

async function main(): Promise<void> {
  const question = 'What is 19 + 23, and what does the tiny image show? Use your tools.';
  if (apiKey) return answer(new Anthropic({ apiKey }), question);
  await using api = await ScriptedApi.start(SCRIPT);
  await answer(new Anthropic({ apiKey: 'none', baseURL: api.url }), question);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
