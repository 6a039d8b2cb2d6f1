import { inspect } from 'node:util';

const WIDTH = 100;
const LABEL = 10;

const hasColours = process.stdout.isTTY && !process.env.NO_COLOR;

/** Makes a text look different where the output is a terminal that may show colours. */
export type Style = (text: string) => string;
const style = (code: number): Style => (hasColours ? (text) => `\u001B[${code}m${text}\u001B[0m` : String);

export const bold = style(1);
export const dim = style(2);
export const red = style(31);
export const green = style(32);
export const cyan = style(36);

/** Writes lines; without any, an empty one. */
export function say(...lines: readonly string[]): void {
  console.log(lines.join('\n'));
}

/** Writes the heading of a part. */
export function heading(title: string): void {
  say('', bold(title), dim('─'.repeat(WIDTH)));
}

/** Writes a value as JavaScript would. */
export function show(value: unknown): void {
  const text = inspect(value, { depth: null, breakLength: WIDTH - 2, colors: hasColours });
  say(...text.split('\n').map((line) => `  ${line}`));
}

/** Writes rows in aligned columns, each column in its style. */
export function table(rows: readonly (readonly string[])[], styles: readonly Style[]): void {
  const widths = styles.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) {
    const cells = styles.map((paint, column) => paint((row[column] ?? '').padEnd(widths[column] ?? 0)));
    say(`  ${cells.join('  ')}`.trimEnd());
  }
}

/** Writes a text after a label; its further lines, and what does not fit into one, are indented. */
export function labelled(label: string, text: string, { paint = cyan, width = LABEL } = {}): void {
  const lines = text.split('\n').flatMap((line) => wrap(line, WIDTH - width - 4));
  say(...lines.map((line, index) => `  ${paint((index === 0 ? label : '').padEnd(width))}  ${line}`));
}

function wrap(line: string, width: number): string[] {
  const pieces = line.match(new RegExp(`.{1,${width}}(?:\\s|$)|.{${width}}`, 'gu')) ?? [''];
  return pieces.map((piece) => piece.trimEnd());
}
