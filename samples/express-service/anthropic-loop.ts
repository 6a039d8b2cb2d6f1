import type Anthropic from '@anthropic-ai/sdk';
import { anthropicTools, anthropicToolResults } from 'mcp-toolset/anthropic';
import { INSTRUCTIONS, MAX_TURNS, type AgentLoop } from './agent';

/** What the loop needs of the SDK's client: `client.messages`, or something that stands in for it. */
export interface MessagesApi {
  create(
    request: Anthropic.MessageCreateParamsNonStreaming,
    options: { readonly signal: AbortSignal },
  ): PromiseLike<Anthropic.Message>;
}

/** The loop over the Messages API. */
export function anthropicLoop(api: MessagesApi, model: string): AgentLoop {
  return async (question, { tools, steps, signal }) => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }];
    for (let turn = 1; turn <= MAX_TURNS; turn += 1) {
      const request = { model, max_tokens: 2_000, system: INSTRUCTIONS, tools: anthropicTools(tools), messages };
      const message = await api.create(request, { signal });
      for (const block of message.content) {
        if (block.type === 'text') steps.send({ type: 'text', text: block.text });
        if (block.type === 'tool_use') steps.send({ type: 'call', id: block.id, name: block.name, input: block.input });
      }
      const results = await anthropicToolResults(tools, message, { signal });
      if (results.length === 0) return;
      for (const { tool_use_id: id, is_error: failed = false, content } of results) {
        steps.send({ type: 'result', id, failed, text: textOf(content) });
      }
      messages.push({ role: 'assistant', content: message.content }, { role: 'user', content: results });
    }
    steps.send({ type: 'notice', text: `The model did not come to an end in ${MAX_TURNS} turns.` });
  };
}

function textOf(content: Anthropic.ToolResultBlockParam['content']): string {
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : (content ?? []);
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
