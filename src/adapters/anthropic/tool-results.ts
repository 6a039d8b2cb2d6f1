import type {
  Base64ImageSource,
  DocumentBlockParam,
  ImageBlockParam,
  TextBlockParam,
  ToolResultBlockParam,
} from '@anthropic-ai/sdk/resources/messages';
import { handled } from '../../registry/handled';
import type { ToolRegistry } from '../../registry/tool-registry';
import { answerCalls, type ModelCall } from '../presentation/answer-calls';
import { ANTHROPIC_MEDIA } from '../presentation/known-media';
import { checkPresentationOptions, type PresentationOptions } from '../presentation/limits';
import { presentResults } from '../presentation/present';
import type { PresentedPart } from '../presentation/presented-result';
import { restored } from './tools';

/** As much of an assistant's message as is read: a `Message` of the SDK, or of its beta. */
export interface AssistantMessage {
  readonly content: readonly { readonly type: string }[];
  /** Whether the last block may be incomplete: `max_tokens`, `model_context_window_exceeded` and `refusal` say so. */
  readonly stop_reason?: string | null | undefined;
}

interface ToolUse {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly toolset_name?: string | null;
}

/**
 * Carries out the `tool_use` blocks of an assistant's message and returns a `tool_result` block for each, in their order:
 * the content of the user's message that has to follow. Without `tool_use` blocks there are none. Server tools, and
 * members of Anthropic's own toolsets (`toolset_name`), are not answered here. Images and PDFs become blocks; whatever
 * the API would refuse becomes a note.
 * @throws CancelledError, DeadlineExceededError, CleanupError; ConfigurationError for an unknown option or a closed registry
 */
export function anthropicToolResults(
  registry: ToolRegistry,
  message: AssistantMessage,
  options: PresentationOptions = {},
): Promise<ToolResultBlockParam[]> {
  return handled(toolResults(registry, message, options));
}

async function toolResults(
  registry: ToolRegistry,
  message: AssistantMessage,
  options: PresentationOptions,
): Promise<ToolResultBlockParam[]> {
  checkPresentationOptions(options, 'anthropicToolResults');
  const { binding } = registry;
  const calls = callsOf(message);
  const restore = (name: string, input: unknown): unknown => {
    const tool = registry.get(name);
    return tool ? restored(tool.specification, input) : input;
  };
  const answered = await answerCalls(registry, calls, { ...options, restore });
  const results = await presentResults(answered, { binding, media: ANTHROPIC_MEDIA, options });
  return results.map(({ isError, parts }, index) => ({
    type: 'tool_result',
    tool_use_id: calls[index]?.id ?? '',
    content: parts.map(block),
    ...(isError && { is_error: true }),
  }));
}

/** Why a model may stop in the middle of a block (Messages API, stop reasons). */
const UNFINISHED: ReadonlySet<unknown> = new Set(['max_tokens', 'model_context_window_exceeded', 'refusal']);

function callsOf({ content, stop_reason }: AssistantMessage): ModelCall[] {
  const isIncomplete = (block: unknown): boolean => UNFINISHED.has(stop_reason) && block === content.at(-1);
  return content.filter(isOurs).map((use) => {
    const { id, name, input } = use;
    return { id, name, input, isCutOff: isIncomplete(use) };
  });
}

function isOurs(block: { readonly type: string }): block is ToolUse {
  return block.type === 'tool_use' && ((block as ToolUse).toolset_name ?? undefined) === undefined;
}

function block(part: PresentedPart): TextBlockParam | ImageBlockParam | DocumentBlockParam {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const { base64: data, mediaType, name } = part;
  if (part.kind === 'image') {
    const media_type = mediaType as Base64ImageSource['media_type'];
    return { type: 'image', source: { type: 'base64', media_type, data } };
  }
  return { type: 'document', title: name, source: { type: 'base64', media_type: 'application/pdf', data } };
}
