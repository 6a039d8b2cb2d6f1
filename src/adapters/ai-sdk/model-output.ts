import { textOf, type MediaPart, type PresentedPart } from '../presentation/presented-result';

/** The `output` of a call in the results and messages of the AI SDK; plain data, which survives being sent as JSON. */
export interface AiSdkToolOutput {
  /** What the model reads; empty where the files are all there is. */
  readonly text: string;
  /** What the model is shown beside it. */
  readonly files: readonly MediaPart[];
}

/** As much of the SDK's output of a tool for the model as is made here, in the words of its versions 5 and 6. */
export type ModelOutput =
  { readonly type: 'text'; readonly value: string } | { readonly type: 'content'; readonly value: ModelContent[] };

type ModelContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'media' | 'image-data'; readonly data: string; readonly mediaType: string }
  | { readonly type: 'file-data'; readonly data: string; readonly mediaType: string; readonly filename: string };

/** The output of a call that did not fail. */
export function toolOutput(parts: readonly PresentedPart[]): AiSdkToolOutput {
  return { text: textOf(parts), files: parts.filter((part): part is MediaPart => part.kind !== 'text') };
}

/**
 * The SDK's `toModelOutput`. Version 5 calls it with the output alone and knows `media`; versions from 6 on call it with
 * `{ toolCallId, input, output }` and know `image-data` and `file-data`.
 */
export function toModelOutput(given: unknown): ModelOutput {
  const isWithCall = isCallOutput(given);
  const output = isWithCall ? given.output : given;
  if (!isToolOutput(output)) return { type: 'text', value: textOfForeign(output) };
  const { text, files } = output;
  if (files.length === 0) return { type: 'text', value: text };
  const beginning: ModelContent[] = text === '' ? [] : [{ type: 'text', text }];
  return { type: 'content', value: [...beginning, ...files.map(isWithCall ? dataPart : mediaPart)] };
}

function isCallOutput(value: unknown): value is { readonly output: unknown } {
  return 'toolCallId' in Object(value) && 'output' in Object(value);
}

function isToolOutput(value: unknown): value is AiSdkToolOutput {
  const { text, files } = Object(value) as Record<string, unknown>;
  return typeof text === 'string' && Array.isArray(files);
}

/** An output that another program has left in the history. */
function textOfForeign(output: unknown): string {
  const text = typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
  return text.trim() === '' ? 'The tool returned nothing.' : text;
}

function mediaPart({ base64: data, mediaType }: MediaPart): ModelContent {
  return { type: 'media', data, mediaType };
}

function dataPart({ kind, base64: data, mediaType, name: filename }: MediaPart): ModelContent {
  return kind === 'image' ? { type: 'image-data', data, mediaType } : { type: 'file-data', data, mediaType, filename };
}
