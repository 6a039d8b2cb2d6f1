import type { MediaRule, ProviderMedia } from './provider-media';

const MIB = 1024 * 1024;

/** The images that all providers read. */
export const IMAGE_TYPES: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

const documents: MediaRule = { mediaTypes: ['application/pdf'], maxBytes: 16 * MIB };

/**
 * What a tool_result of Anthropic's takes (Messages API, vision and PDF support); 5 MiB of base64 is the smallest limit of
 * a platform, and the least that a provider takes. With a failed call goes nothing but text.
 */
export const ANTHROPIC_MEDIA: ProviderMedia = {
  image: { mediaTypes: IMAGE_TYPES, maxBytes: (5 * MIB * 3) / 4, maxSide: 8_000 },
  document: documents,
  failuresAreText: true,
};

/** What OpenAI's models take beside text (images and vision, PDF files). Only few of them take audio. */
export const OPENAI_MEDIA: ProviderMedia = {
  image: { mediaTypes: IMAGE_TYPES, maxBytes: 16 * MIB },
  document: documents,
  failuresAreText: false,
};

/** For models, or ways to them, that take nothing but text. */
export const NO_MEDIA: ProviderMedia = { failuresAreText: true };
