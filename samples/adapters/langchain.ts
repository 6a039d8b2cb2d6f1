/**
 * `npm run sample:langchain`: an agent of LangChain with the tools of server-everything. No key, no network: its model is a
 * stand-in that makes three calls at once; put `model: 'anthropic:claude-sonnet-4-5'` in its place.
 */
import 'reflect-metadata';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { createAgent } from 'langchain';
import { container } from 'tsyringe';
import { RunFactory, ToolRegistry, type ToolExecution } from 'mcp-toolset';
import { langchainTools } from 'mcp-toolset/langchain';
import { DemoTools } from './tools';

/** Stands in for a model: it says which calls to make, and then what came of them. */
class StandIn extends BaseChatModel {
  override _llmType(): string {
    return 'stand-in';
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const results = messages.filter((message) => ToolMessage.isInstance(message));
    const calls = [
      { id: 'call_1', name: 'get-sum', args: { a: 19, b: 23 } },
      { id: 'call_2', name: 'get-sum', args: { a: 'nineteen' } },
      { id: 'call_3', name: 'get-tiny-image', args: {} },
    ].map((call) => ({ ...call, type: 'tool_call' as const }));
    const message = new AIMessage(
      results.length > 0
        ? { content: `I made ${results.length} calls.` }
        : { content: '', tool_calls: calls, response_metadata: { model_provider: 'anthropic' } },
    );
    return { generations: [{ message, text: message.text }] };
  }
}

async function main(): Promise<void> {
  await using run = container.resolve(RunFactory).start({ timeout: 30_000 });
  const tools = run.resolve(ToolRegistry);
  await tools.register(DemoTools);
  const agent = createAgent({ model: new StandIn({}), tools: langchainTools(tools), signal: run.signal });
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'What is 19 + 23?' }] });
  for (const message of messages) {
    if (!ToolMessage.isInstance(message)) console.log(`${message.type}: ${message.text}`);
    else console.log(`${message.name} (${message.status}): ${shown(message)}`);
  }
}

/** What the model was shown, and what only the application has. */
function shown({ content, artifact }: ToolMessage): string {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const parts = blocks.map((block) => (block.type === 'text' ? String(block.text).split('\n')[0] : `[${block.type}]`));
  const { artifacts } = artifact as ToolExecution;
  return `${parts.join(' ')}${artifacts.length > 0 ? `; artifacts: ${artifacts.map(({ mediaType }) => mediaType).join(', ')}` : ''}`;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
