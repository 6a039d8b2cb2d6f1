/** The smallest files of their formats that say what they are from beginning to end. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const png: Buffer = Buffer.from(PNG, 'base64');

/** A PNG whose header says that it is this large. */
export function pngOf(width: number, height: number, bytes = png.byteLength): Buffer {
  const image = Buffer.alloc(Math.max(bytes, png.byteLength));
  png.copy(image, 0, 0, png.byteLength - 12);
  png.copy(image, image.byteLength - 12, png.byteLength - 12);
  image.writeUInt32BE(width, 16);
  image.writeUInt32BE(height, 20);
  return image;
}

export const jpeg: Buffer = Buffer.concat([
  Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
  Buffer.from('ffc0000b080002000301011100', 'hex'), // 3 by 2 pixels
  Buffer.from('ffd9', 'hex'),
]);

export const gif: Buffer = Buffer.from('474946383961010001008000000000000000002c00000000010001000002024401003b', 'hex');

export const webp: Buffer = Buffer.concat([
  Buffer.from('RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0', 'latin1'),
  Buffer.from('2f00000010071011118888080000', 'hex'),
]);

export const pdf: Buffer = Buffer.from(
  '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n',
);

export const wav: Buffer = Buffer.concat([Buffer.from('RIFF\x24\0\0\0WAVEfmt ', 'latin1'), Buffer.alloc(28)]);

export const mp3: Buffer = Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\0', 'latin1'), Buffer.alloc(20)]);

/** What a file of base64 is, by its first bytes; the checks of the tests' endpoints have this of their own. */
export function magicOf(base64: string): string | undefined {
  const head = Buffer.from(base64.slice(0, 64), 'base64').toString('latin1');
  const beginnings: [RegExp, string][] = [
    [/^\x89PNG\r\n/, 'image/png'],
    [/^\xff\xd8\xff/, 'image/jpeg'],
    [/^GIF8[79]a/, 'image/gif'],
    [/^RIFF.{4}WEBP/s, 'image/webp'],
    [/^%PDF-/, 'application/pdf'],
  ];
  return beginnings.find(([beginning]) => beginning.test(head))?.[1];
}
