import type { MediaPart } from './presented-result';

/** The bytes of a part as a `data:` URL. */
export function dataUrl({ mediaType, base64 }: MediaPart): string {
  return `data:${mediaType};base64,${base64}`;
}
