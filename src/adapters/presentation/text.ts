/** How far around a cut a character of several code points is looked for. */
const WINDOW = 64;
const NUMBERS = new Intl.NumberFormat('en');

/** A number as the notes show it. */
export function shown(count: number): string {
  return NUMBERS.format(count);
}

/**
 * The text, or as many of its characters (UTF-16 code units) as are allowed and a notice of how many are missing.
 * `whole` says where the rest is.
 */
export function cutText(text: string, max: number, whole: string): string {
  if (text.length <= max) return text;
  const kept = text.slice(0, boundary(text, max));
  const missing = `${shown(text.length - kept.length)} of ${shown(text.length)} characters`;
  return `${kept}${kept === '' ? '' : '\n'}[Cut here: ${missing} are not shown. ${whole}]`;
}

/** The beginning of a text, without a notice but with an ellipsis. */
export function abbreviated(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, boundary(text, max - 1))}…`;
}

/** The last place up to `max` where a cut divides neither a code point nor what a reader takes for one character. */
function boundary(text: string, max: number): number {
  const start = Math.max(0, max - WINDOW);
  const segments = new Intl.Segmenter('en').segment(text.slice(start, max + WINDOW));
  const found = start + (segments.containing(max - start)?.index ?? 0);
  // What begins before the window is no character that anyone reads.
  const place = found > start || start === 0 ? found : max;
  return isLowSurrogate(text, place) && place > 0 ? place - 1 : place;
}

function isLowSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
