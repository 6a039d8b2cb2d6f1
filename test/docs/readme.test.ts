import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { run, settingsOf, typeErrors } from './compile';
import { blocksOf, documents, relativeLinksOf, type Block } from './documents';
import { PRELUDE } from './prelude';

const ROOT = resolve(__dirname, '../..');

const texts = documents();
const blocks = texts.flatMap(({ file, text }) => blocksOf(file, text));
/** The blocks of docs/testing.md are files of samples/testing, and compiled there; test/samples/testing.test.ts sees to it. */
const typescript = blocks.filter(
  ({ file, language }) => ['ts', 'typescript', 'tsx'].includes(language) && file !== 'docs/testing.md',
);

/** The TypeScript blocks of a section of the README, of which there is at least one. */
function section(title: string): readonly [Block, ...Block[]] {
  const [first, ...others] = typescript.filter((block) => block.file === 'README.md' && block.section === title);
  if (!first) throw new Error(`README.md has no TypeScript block under "${title}"`);
  return [first, ...others];
}

describe('the documentation', () => {
  it('has examples that compile with the settings of the repository', () => {
    expect(typescript.filter(({ file }) => file === 'README.md').length).toBeGreaterThanOrEqual(8);
    expect(typeErrors(typescript, PRELUDE)).toEqual([]);
  }, 120_000);

  it('has a tsconfig with which the examples of its document compile', () => {
    const tsconfigs = blocks.filter(({ language, code }) => language === 'json' && code.includes('compilerOptions'));
    expect(tsconfigs.map(({ file }) => file)).toEqual(['README.md']);
    for (const tsconfig of tsconfigs) {
      const examples = typescript.filter(
        ({ file, section: title }) => file === tsconfig.file && !title.startsWith('Test'),
      );
      expect(typeErrors(examples, PRELUDE, settingsOf(tsconfig))).toEqual([]);
    }
  }, 120_000);

  it('names the file, the line and the error of an example that does not compile', () => {
    const broken = blocksOf(
      'docs/x.md',
      "# X\n\n```ts\nimport { Tool } from 'mcp-toolset';\n\nTool.define({ name: 1 });\nnothing;\n```\n",
    );
    expect(typeErrors(broken)).toEqual([
      expect.stringMatching(/^docs\/x\.md:6 \(block at line 4\): TS2322: Type 'number' is not assignable to/),
      expect.stringMatching(/^docs\/x\.md:7 \(block at line 4\): TS2304: Cannot find name 'nothing'/),
    ]);
  }, 120_000);

  it('names only npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
    const named = texts.flatMap(({ file, text }) =>
      [...text.matchAll(/\bnpm (?:run (?:-\S+ )*([\w:-]+)|(test|start)\b)/g)].map((match) => ({
        file,
        script: match[1] ?? match[2] ?? '',
      })),
    );
    expect(named).toContainEqual({ file: 'README.md', script: 'start' });
    expect(named.filter(({ script }) => !(script in scripts))).toEqual([]);
  });

  it('links only to files and headings that exist', () => {
    const anchors = new Map(texts.map(({ file, text }) => [file, anchorsOf(text)]));
    const isBroken = (file: string, target: string): boolean => {
      const [path = '', anchor] = target.split('#');
      const linked = path === '' ? file : join(dirname(file), path);
      return !existsSync(join(ROOT, linked)) || (anchor !== undefined && anchors.get(linked)?.has(anchor) !== true);
    };
    const broken = texts.flatMap(({ file, text }) => {
      const targets = relativeLinksOf(text);
      return targets.filter((target) => isBroken(file, target)).map((target) => `${file}: ${target}`);
    });
    expect(broken).toEqual([]);
  });

  it('names only paths of the repository that exist', () => {
    const named = texts.flatMap(({ file, text }) =>
      [...text.matchAll(/`((?:bench|conformance|docs|samples|scripts|src|test)\/[\w./-]*)`/g)].map((match) => ({
        file,
        path: match[1] ?? '',
      })),
    );
    expect(named).toContainEqual({ file: 'README.md', path: 'samples/quickstart' });
    expect(named.filter(({ path }) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map((match) => anchorOf(match[1] ?? ''));
  return new Set([...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map((match) => match[1] ?? '')]);
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}

describe('the README', () => {
  it('has a shortest example that runs', async () => {
    const log = jest.spyOn(console, 'log').mockImplementation(() => undefined);
    try {
      await run(section('The shortest example')[0], { require });
      expect(log.mock.calls).toEqual([
        [expect.arrayContaining(['read_text_file', 'list_directory'])],
        ['success', expect.stringContaining('[FILE] package.json')],
      ]);
    } finally {
      log.mockRestore();
    }
  }, 60_000);

  it.each(['Toolsets', 'Local tools', 'Connection options'])('has declarations that hold under "%s"', async (title) => {
    for (const block of section(title)) await run(block, { require, AccessTokens: class {}, Invoices: class {} });
  });

  // It registers a test of its own, which jest then runs like any other.
  void run(section('Testing your application')[0], { require });
});
