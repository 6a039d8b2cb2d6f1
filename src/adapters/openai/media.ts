import type { MediaPart } from '../presentation/presented-result';
import type { ProviderMedia } from '../presentation/provider-media';

const MIB = 1024 * 1024;

/** What OpenAI's models take beside text (images and vision, PDF files). Only few of them take audio. */
export const MEDIA: ProviderMedia = {
  image: { mediaTypes: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'], maxBytes: 16 * MIB },
  document: { mediaTypes: ['application/pdf'], maxBytes: 16 * MIB },
  failuresAreText: false,
};

/** The bytes of a part as a `data:` URL. */
export function dataUrl({ mediaType, base64 }: MediaPart): string {
  return `data:${mediaType};base64,${base64}`;
}
