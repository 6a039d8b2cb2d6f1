import type { ProviderMedia } from '../presentation/provider-media';

const MIB = 1024 * 1024;

/** What the models behind the SDK have in common beside text; of bytes and pixels, the least that one of them takes. */
export const MEDIA: ProviderMedia = {
  image: {
    mediaTypes: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'],
    maxBytes: (5 * MIB * 3) / 4,
    maxSide: 8_000,
  },
  document: { mediaTypes: ['application/pdf'], maxBytes: 16 * MIB },
  failuresAreText: true,
};

/** For models, or providers of the SDK, that would read the base64 of an image as text. */
export const NO_MEDIA: ProviderMedia = { failuresAreText: true };
