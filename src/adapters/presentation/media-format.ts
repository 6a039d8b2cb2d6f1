import { GIF } from 'image-size/types/gif';
import { JPG } from 'image-size/types/jpg';
import { PNG } from 'image-size/types/png';
import { WEBP } from 'image-size/types/webp';

/** What kind of part a medium becomes. */
export type MediaKind = 'image' | 'audio' | 'document';

/** Width and height in pixels. */
interface Sides {
  readonly width: number;
  readonly height: number;
}

/** A format of media that models read, as its bytes show it. */
export interface MediaFormat {
  readonly kind: MediaKind;
  readonly mediaType: string;
  /** Whether bytes begin as this format does. */
  readonly begins: (bytes: Buffer) => boolean;
  /** Whether the end of the bytes is there; formats without one are taken to be complete. */
  readonly isComplete?: (bytes: Buffer) => boolean;
  /** Throws where the bytes do not say. */
  readonly sides?: (bytes: Buffer) => Sides;
}

/** Where the size of an image has to be found; a hostile file could have it looked for in every byte. */
const HEADER_BYTES = 512 * 1024;

const at = (bytes: Buffer, offset: number, text: string): boolean =>
  bytes.toString('latin1', offset, offset + text.length) === text;

const riff = (form: string) => (bytes: Buffer) => at(bytes, 0, 'RIFF') && at(bytes, 8, form);
const riffIsComplete = (bytes: Buffer): boolean => bytes.length >= 8 && bytes.readUInt32LE(4) + 8 <= bytes.length;

const FORMATS: readonly MediaFormat[] = [
  {
    kind: 'image',
    mediaType: 'image/png',
    begins: (bytes) => at(bytes, 0, '\x89PNG\r\n\x1a\n') && at(bytes, 12, 'IHDR'),
    isComplete: (bytes) => bytes.lastIndexOf('IEND') > 0,
    sides: (bytes) => PNG.calculate(bytes),
  },
  {
    kind: 'image',
    mediaType: 'image/jpeg',
    begins: (bytes) => at(bytes, 0, '\xff\xd8\xff'),
    isComplete: (bytes) => bytes.lastIndexOf(Buffer.from([0xff, 0xd9])) > 0,
    sides: (bytes) => JPG.calculate(bytes),
  },
  {
    kind: 'image',
    mediaType: 'image/gif',
    begins: (bytes) => at(bytes, 0, 'GIF87a') || at(bytes, 0, 'GIF89a'),
    isComplete: (bytes) => bytes.lastIndexOf(0x3b) > 0,
    sides: (bytes) => GIF.calculate(bytes),
  },
  {
    kind: 'image',
    mediaType: 'image/webp',
    begins: riff('WEBP'),
    isComplete: riffIsComplete,
    sides: (bytes) => WEBP.calculate(bytes),
  },
  { kind: 'document', mediaType: 'application/pdf', begins: (bytes) => at(bytes, 0, '%PDF-') },
  { kind: 'audio', mediaType: 'audio/wav', begins: riff('WAVE') },
  {
    kind: 'audio',
    mediaType: 'audio/mpeg',
    // A tag, or the first frame of layer 1, 2 or 3.
    begins: (bytes) =>
      at(bytes, 0, 'ID3') || (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0 && ((bytes[1] ?? 0) & 6) !== 0),
  },
];

const SYNONYMS: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'application/x-pdf': 'application/pdf',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
  'audio/mp3': 'audio/mpeg',
  'audio/x-mp3': 'audio/mpeg',
};

/** A media type in its usual form: lower case, without parameters, by its registered name. */
export function usualMediaType(mediaType: string): string {
  const essence = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
  return Object.hasOwn(SYNONYMS, essence) ? (SYNONYMS[essence] ?? essence) : essence;
}

/** What bytes are, by their beginning, if it is a format that models read. */
export function formatOf(bytes: Buffer): MediaFormat | undefined {
  return FORMATS.find(({ begins }) => begins(bytes));
}

/** Why a file of this format cannot be read, as far as its ends tell; `maxSide` bounds the pixels of an image. */
export function formatFault({ isComplete, sides }: MediaFormat, bytes: Buffer, maxSide: number): string | undefined {
  if (isComplete?.(bytes) === false) return 'its end is missing';
  if (!sides) return undefined;
  try {
    const { width, height } = sides(bytes.subarray(0, HEADER_BYTES));
    if (!(width > 0 && height > 0)) return 'it has no size';
    return Math.max(width, height) > maxSide
      ? `its ${width} by ${height} pixels are more than ${maxSide} on one side`
      : undefined;
  } catch {
    return 'its size cannot be read';
  }
}
