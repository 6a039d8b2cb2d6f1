import type { MediaKind } from './media-format';

/** What a provider takes of one kind of media. */
export interface MediaRule {
  /** The media types, in their usual form. */
  readonly mediaTypes: readonly string[];
  /** Bytes of one, before base64. */
  readonly maxBytes: number;
  /** Pixels of an image's longer side. Default: no limit. */
  readonly maxSide?: number | undefined;
}

/** What a provider takes in the result of a tool beside text. A kind that is left out becomes a note. */
export interface ProviderMedia extends Partial<Readonly<Record<MediaKind, MediaRule>>> {
  /** Whether the result of a failed call may hold nothing but text. */
  readonly failuresAreText: boolean;
}

/** The rule by which a provider takes a media type. */
export function ruleFor(
  media: ProviderMedia,
  mediaType: string,
): (MediaRule & { readonly kind: MediaKind }) | undefined {
  for (const kind of ['image', 'audio', 'document'] as const) {
    const rule = media[kind];
    if (rule?.mediaTypes.includes(mediaType)) return { ...rule, kind };
  }
  return undefined;
}
