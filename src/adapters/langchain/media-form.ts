import type { MessageContent } from '@langchain/core/messages';
import { dataUrl } from '../presentation/data-url';
import { ANTHROPIC_MEDIA, IMAGE_TYPES, NO_MEDIA, OPENAI_MEDIA } from '../presentation/known-media';
import type { PresentedPart } from '../presentation/presented-result';
import type { ProviderMedia } from '../presentation/provider-media';
import { textOf } from '../presentation/presented-result';
import { messagesOf } from './calling-message';

/**
 * How images and PDFs are put into a tool's message. There is no form that every integration of LangChain sends on as
 * it is meant: some refuse the turn, some send base64 as text, some send an image twice. `'anthropic'` is for
 * `@langchain/anthropic`, `'bedrock-converse'` for `@langchain/aws` (images only), `'openai-responses'` for the Responses
 * API of `@langchain/openai`. `'note'`: a note stands for them; Chat Completions take no more than that.
 */
export type MediaForm = 'anthropic' | 'bedrock-converse' | 'openai-responses' | 'note';

const MIB = 1024 * 1024;

interface Form {
  readonly media: ProviderMedia;
  readonly block: (part: PresentedPart) => ContentBlock;
}

type ContentBlock = Exclude<MessageContent, string>[number];

const text = (part: PresentedPart & { kind: 'text' }): ContentBlock => ({ type: 'text', text: part.text });

const FORMS: Readonly<Record<MediaForm, Form>> = {
  anthropic: {
    media: ANTHROPIC_MEDIA,
    block: (part) => {
      if (part.kind === 'text') return text(part);
      return { type: part.kind === 'image' ? 'image' : 'file', mimeType: part.mediaType, data: part.base64 };
    },
  },
  'bedrock-converse': {
    media: { image: { mediaTypes: IMAGE_TYPES, maxBytes: (15 * MIB) / 4, maxSide: 8_000 }, failuresAreText: true },
    block: (part) => (part.kind === 'text' ? text(part) : { type: 'image_url', image_url: { url: dataUrl(part) } }),
  },
  'openai-responses': {
    media: OPENAI_MEDIA,
    block: (part) => {
      if (part.kind === 'text') return { type: 'input_text', text: part.text };
      if (part.kind === 'image') return { type: 'input_image', image_url: dataUrl(part), detail: 'auto' };
      return { type: 'input_file', filename: part.name, file_data: dataUrl(part) };
    },
  },
  note: { media: NO_MEDIA, block: (part) => ({ type: 'text', text: textOf([part]) }) },
};

/** What may be shown in a form. */
export function mediaOf(form: MediaForm): ProviderMedia {
  return FORMS[form].media;
}

/** The content of a tool's message; text alone is a string, which every integration takes. */
export function contentOf(parts: readonly PresentedPart[], form: MediaForm): MessageContent {
  return parts.every(({ kind }) => kind === 'text') ? textOf(parts) : parts.map(FORMS[form].block);
}

/**
 * The form for the model that made a call, as the last of an agent's messages names it (`model_provider`); `state` is
 * what an agent's node was given: messages, or an object that has them. A note where that cannot be told.
 */
export function formFor(state: unknown): MediaForm {
  const metadata = messagesOf(state).map((message) => Object(message?.response_metadata) as Record<string, unknown>);
  const { model_provider: provider, object } = metadata.findLast((entry) => 'model_provider' in entry) ?? {};
  if (provider === 'openai') return object === 'response' ? 'openai-responses' : 'note';
  return provider === 'anthropic' || provider === 'bedrock-converse' ? provider : 'note';
}
