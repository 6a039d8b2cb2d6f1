import { compile, type Diagnostics } from './compile';
import { correct } from './correct-snippets';
import { PRELUDE } from './prelude';
import { wrong } from './wrong-snippets';

const snippets = [...Object.values(correct), ...Object.values(wrong).map(([code]) => code)];
let diagnostics: Diagnostics[] = [];
beforeAll(() => {
  diagnostics = compile(snippets.map((code) => PRELUDE + code));
});

describe('compiles', () => {
  it.each(Object.keys(correct).map((title, index) => [title, index] as const))('%s', (_, index) => {
    expect(diagnostics[index]).toEqual([]);
  });
});

describe('does not compile', () => {
  const offset = Object.keys(correct).length;
  it.each(Object.keys(wrong).map((title, index) => [title, index] as const))('%s', (title, index) => {
    expect(diagnostics[offset + index]).toEqual([expect.stringMatching(wrong[title]?.[1] ?? /never/)]);
  });
});
