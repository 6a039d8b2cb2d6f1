import { BaseChatModel, type BindToolsInput } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage, type ToolMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import type { StructuredToolInterface } from '@langchain/core/tools';

/** A call as a model makes it. */
export interface Call {
  readonly id: string;
  readonly name: string;
  /** What LangChain hands on: an object, unless the integration let something else through. */
  readonly args: unknown;
}

/** A message in which the model makes calls; `metadata` says whose it is, as the integrations do. */
export function calling(calls: readonly Call[], metadata: Record<string, unknown> = {}): AIMessage {
  const tool_calls = calls.map(({ id, name, args }) => ({
    type: 'tool_call' as const,
    id,
    name,
    args: args as object,
  }));
  return new AIMessage({ content: '', tool_calls, response_metadata: metadata });
}

/** A chat model that says what it was told to, and remembers what it was asked. */
export class ScriptedModel extends BaseChatModel {
  readonly requests: (readonly BaseMessage[])[] = [];
  /** The tools that it was offered. */
  offered: readonly StructuredToolInterface[] = [];

  constructor(private readonly turns: readonly (AIMessage | (() => AIMessage))[]) {
    super({});
  }

  /** The results that the last request ended with. */
  get results(): readonly ToolMessage[] {
    const messages = this.requests.at(-1) ?? [];
    return messages.slice(messages.findLastIndex(({ type }) => type === 'ai') + 1) as ToolMessage[];
  }

  override _llmType(): string {
    return 'scripted';
  }

  override bindTools(tools: BindToolsInput[]): this {
    this.offered = tools as StructuredToolInterface[];
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    this.requests.push(messages);
    const turn = this.turns[this.requests.length - 1] ?? new AIMessage('Done.');
    const message = typeof turn === 'function' ? turn() : turn;
    return { generations: [{ message, text: message.text }] };
  }
}
