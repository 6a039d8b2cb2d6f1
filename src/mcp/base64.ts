/**
 * The number of bytes that strict base64 (RFC 4648, section 4: padded, no line breaks, unused bits zero) stands for, or
 * undefined where the text is not that. Reads every character once and decodes nothing.
 */
export function base64Length(text: string): number | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const digits = text.length - padding;
  if (/[^A-Za-z0-9+/]/.test(padding === 0 ? text : text.slice(0, digits))) return undefined;
  if (padding > 0 && !endsInZeroBits(text.charAt(digits - 1), padding)) return undefined;
  return (text.length / 4) * 3 - padding;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function endsInZeroBits(last: string, padding: number): boolean {
  return ALPHABET.indexOf(last) % (padding === 2 ? 16 : 4) === 0;
}
