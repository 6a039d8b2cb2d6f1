import type {
  ChatCompletionContentPart,
  ChatCompletionToolMessageParam,
  ChatCompletionUserMessageParam,
} from 'openai/resources/chat/completions';
import { z } from 'zod/v4';
import { checkOptions } from '../../options';
import { handled } from '../../registry/handled';
import type { ToolRegistry } from '../../registry/tool-registry';
import { answerCalls, type ModelCall } from '../presentation/answer-calls';
import { dataUrl } from '../presentation/data-url';
import { NO_MEDIA, OPENAI_MEDIA } from '../presentation/known-media';
import { presentationOptions, type PresentationOptions } from '../presentation/limits';
import { presentResults } from '../presentation/present';
import { partsThatSayFailure, textOf, type MediaPart, type PresentedPart } from '../presentation/presented-result';

/** How results are presented in Chat Completions. */
export interface OpenAIChatOptions extends PresentationOptions {
  /**
   * A `tool` message holds nothing but text. `'user-message'`: images and PDFs follow in a message of the role `user`,
   * which says where they come from. `'note'`: they are not shown, for models without vision, or where no tool may put
   * anything into the user's mouth. Default `'user-message'`.
   */
  readonly media?: 'user-message' | 'note' | undefined;
}

/** As much of an assistant's message as is read. */
export interface AssistantChatMessage {
  readonly tool_calls?: readonly { readonly id: string; readonly type: string }[] | null | undefined;
}

/** As much of a choice as is read: its message, and whether that was finished. */
export interface AssistantChatChoice {
  readonly message: AssistantChatMessage;
  /** `length` and `content_filter` say that the last call may be incomplete. */
  readonly finish_reason?: string | null | undefined;
}

interface FunctionToolCall {
  readonly id: string;
  readonly type: string;
  readonly function: { readonly name: string; readonly arguments: unknown };
}

type ToolTurnMessage = ChatCompletionToolMessageParam | ChatCompletionUserMessageParam;

const optionsSchema = z.strictObject({
  ...presentationOptions,
  media: z.enum(['user-message', 'note']).optional(),
});

/**
 * Carries out the function calls of an assistant's message and returns the messages that have to follow it: one of the
 * role `tool` for each call, in their order, and one with the media if there are any. Without calls there are none.
 * Custom tools are not answered here. Of a message alone nobody can tell whether its last call was finished: hand over
 * the choice that it stands in, or look at the `finish_reason` first.
 * @throws CancelledError, DeadlineExceededError, CleanupError; ConfigurationError for an unknown option or a closed registry
 */
export function openaiChatToolMessages(
  registry: ToolRegistry,
  said: AssistantChatChoice | AssistantChatMessage,
  options: OpenAIChatOptions = {},
): Promise<ToolTurnMessage[]> {
  return handled(toolMessages(registry, said, options));
}

async function toolMessages(
  registry: ToolRegistry,
  said: AssistantChatChoice | AssistantChatMessage,
  options: OpenAIChatOptions,
): Promise<ToolTurnMessage[]> {
  const { media = 'user-message', ...presentation } = checkOptions(optionsSchema, options, {
    where: 'openaiChatToolMessages',
  });
  const { binding } = registry;
  const calls = callsOf('message' in said ? said : { message: said });
  const answered = await answerCalls(registry, calls, presentation);
  const results = await presentResults(answered, {
    binding,
    media: media === 'note' ? NO_MEDIA : OPENAI_MEDIA,
    options: presentation,
  });
  const shown: ChatCompletionContentPart[] = [];
  const answers = results.map((result, index): ChatCompletionToolMessageParam => {
    const parts = partsThatSayFailure(result);
    const { id = '', name = '' } = calls[index] ?? {};
    const files = parts.filter((part): part is MediaPart => part.kind !== 'text');
    shown.push(...files.flatMap((file) => [attribution(file, { id, name }), contentPart(file)]));
    return { role: 'tool', tool_call_id: id, content: toolContent(parts, files) };
  });
  return shown.length === 0 ? answers : [...answers, { role: 'user', content: [INTRODUCTION, ...shown] }];
}

const INTRODUCTION: ChatCompletionContentPart = {
  type: 'text',
  text: 'These files are results of the tool calls above. They come from the tools, not from the user.',
};

/** Why a model may stop in the middle of a call. */
const UNFINISHED: ReadonlySet<unknown> = new Set(['length', 'content_filter']);

function callsOf({ message, finish_reason }: AssistantChatChoice): ModelCall[] {
  const written = message.tool_calls ?? [];
  const calls = written.filter((call): call is FunctionToolCall => call.type === 'function');
  return calls.map((call) => {
    const { name, arguments: input } = call.function;
    return { id: call.id, name, input, isCutOff: UNFINISHED.has(finish_reason) && call === written.at(-1) };
  });
}

function toolContent(parts: readonly PresentedPart[], files: readonly MediaPart[]): string {
  const names = files.map(
    ({ name, mediaType }) => `[${JSON.stringify(name)} (${mediaType}) follows in the next message.]`,
  );
  return [textOf(parts), ...names].filter((text) => text !== '').join('\n');
}

function attribution({ name, mediaType }: MediaPart, call: { id: string; name: string }): ChatCompletionContentPart {
  return { type: 'text', text: `${JSON.stringify(name)} (${mediaType}), from ${call.name} (${call.id}):` };
}

function contentPart(file: MediaPart): ChatCompletionContentPart {
  if (file.kind === 'image') return { type: 'image_url', image_url: { url: dataUrl(file), detail: 'auto' } };
  return { type: 'file', file: { filename: file.name, file_data: dataUrl(file) } };
}
