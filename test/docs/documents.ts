import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

/** A fenced block of a Markdown file. */
export interface Block {
  readonly file: string;
  /** Line of its first line of code, counted from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
  /** The heading above it. */
  readonly section: string;
}

/** The Markdown files that tell users and contributors what to write and to run, by their paths in the repository. */
export function documents(): { file: string; text: string }[] {
  const top = readdirSync(ROOT).filter((name) => name.endsWith('.md'));
  const nested = ['docs', 'samples'].flatMap((folder) => markdownIn(join(ROOT, folder)));
  return [...top, ...nested, 'conformance/README.md'].map((file) => ({
    file,
    text: readFileSync(join(ROOT, file), 'utf8'),
  }));
}

function markdownIn(folder: string): string[] {
  try {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return files.filter((name) => name.endsWith('.md')).map((name) => relative(ROOT, join(folder, name)));
  } catch {
    return []; // there is no such folder
  }
}

/** Where the links of a Markdown text lead that are no addresses, with their anchors. */
export function relativeLinksOf(text: string): string[] {
  return [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map((match) => match[1] ?? '');
}

/** The fenced blocks of a Markdown text. */
export function blocksOf(file: string, text: string): Block[] {
  const blocks: Block[] = [];
  let section = '';
  let open: { line: number; language: string; code: string[] } | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const fence = /^\s*```(\w*)/.exec(line);
    if (open && fence) {
      blocks.push({ file, section, ...open, code: open.code.join('\n') });
      open = undefined;
    } else if (open) {
      open.code.push(line);
    } else if (fence) {
      open = { line: index + 2, language: fence[1] ?? '', code: [] };
    } else {
      section = /^#+ (.*)$/.exec(line)?.[1] ?? section;
    }
  }
  if (open) throw new Error(`${file}:${open.line}: the block is never closed`);
  return blocks;
}
