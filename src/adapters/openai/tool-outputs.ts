import type { ResponseFunctionCallOutputItem, ResponseInputItem } from 'openai/resources/responses/responses';
import { handled } from '../../registry/handled';
import type { ToolRegistry } from '../../registry/tool-registry';
import { answerCalls, type ModelCall } from '../presentation/answer-calls';
import { dataUrl } from '../presentation/data-url';
import { OPENAI_MEDIA } from '../presentation/known-media';
import { checkPresentationOptions, type PresentationOptions } from '../presentation/limits';
import { presentResults } from '../presentation/present';
import {
  partsThatSayFailure,
  textOf,
  type PresentedPart,
  type PresentedResult,
} from '../presentation/presented-result';

/** As much of a response as is read. */
export interface ModelResponse {
  readonly output: readonly { readonly type: string }[];
  /** `incomplete` says that the last item may be. */
  readonly status?: string | null | undefined;
}

interface FunctionCall {
  readonly type: string;
  readonly call_id: string;
  readonly name: string;
  readonly arguments: unknown;
  readonly status?: string | undefined;
}

/**
 * Carries out the `function_call` items of a response and returns a `function_call_output` for each, in their order: the
 * further input of the next request. Without such items there are none. Images and PDFs go along; whatever the API would
 * refuse becomes a note.
 * @throws CancelledError, DeadlineExceededError, CleanupError; ConfigurationError for an unknown option or a closed registry
 */
export function openaiToolOutputs(
  registry: ToolRegistry,
  response: ModelResponse,
  options: PresentationOptions = {},
): Promise<ResponseInputItem.FunctionCallOutput[]> {
  return handled(toolOutputs(registry, response, options));
}

async function toolOutputs(
  registry: ToolRegistry,
  response: ModelResponse,
  options: PresentationOptions,
): Promise<ResponseInputItem.FunctionCallOutput[]> {
  checkPresentationOptions(options, 'openaiToolOutputs');
  const { binding } = registry;
  const calls = callsOf(response);
  const answered = await answerCalls(registry, calls, options);
  const results = await presentResults(answered, { binding, media: OPENAI_MEDIA, options });
  return results.map((result, index) => ({
    type: 'function_call_output',
    call_id: calls[index]?.id ?? '',
    output: outputOf(result),
  }));
}

function callsOf({ output, status: ofAll }: ModelResponse): ModelCall[] {
  const calls = output.filter((item): item is FunctionCall => item.type === 'function_call');
  return calls.map((call) => {
    const { call_id, name, arguments: input, status = call === output.at(-1) ? ofAll : undefined } = call;
    return { id: call_id, name, input, isCutOff: status === 'incomplete' };
  });
}

/** Text alone as a string, which every model takes. */
function outputOf(result: PresentedResult): string | ResponseFunctionCallOutputItem[] {
  const parts = partsThatSayFailure(result);
  return parts.every(({ kind }) => kind === 'text') ? textOf(parts) : parts.map(item);
}

function item(part: PresentedPart): ResponseFunctionCallOutputItem {
  if (part.kind === 'text') return { type: 'input_text', text: part.text };
  if (part.kind === 'image') return { type: 'input_image', image_url: dataUrl(part), detail: 'auto' };
  return { type: 'input_file', filename: part.name, file_data: dataUrl(part) };
}
