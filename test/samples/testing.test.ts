import { exec } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { built } from '../build/built';
import { blocksOf, documents } from '../docs/documents';

/** The tests of an application, under each of the runners that docs/testing.md tells about. */
const ROOT = resolve(__dirname, '../..');
const SAMPLE = join(ROOT, 'samples/testing');
/** Jest's test with one line more, which is all that docs/testing.md says of it. */
const VITEST = join('vitest', 'help-center.test.ts');
const read = (name: string): string => readFileSync(join(SAMPLE, name), 'utf8').trimEnd();

it('pass under jest, vitest and node, as the script of their name runs them', async () => {
  const folder = await built();
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const PATH = `${join(folder, 'node_modules/.bin')}${delimiter}${process.env.PATH}`;
  const { NODE_ENV: _, JEST_WORKER_ID: __, ...own } = process.env;
  const run = promisify(exec)(scripts['sample:testing'] ?? '', { cwd: folder, env: { ...own, PATH } });
  const { stdout, stderr } = await run.catch((error: unknown) => error as { stdout: string; stderr: string });
  const text = stripVTControlCharacters(stdout + stderr);
  expect(text).toContain('Tests:       2 passed, 2 total');
  expect(text).toContain('Tests  2 passed (2)');
  expect(text).toMatch(/pass 1\n.*fail 0\n/);
}, 180_000);

it('are what docs/testing.md shows, word for word', () => {
  const { text = '' } = documents().find(({ file }) => file === 'docs/testing.md') ?? {};
  const shown = blocksOf('docs/testing.md', text).filter(({ language }) => ['js', 'ts'].includes(language));
  const files = readdirSync(SAMPLE, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|m?js)$/.test(name) && !name.includes('node_modules'))
    .filter((name) => name !== VITEST);
  expect(shown.map(({ code }) => code).sort()).toEqual(files.map(read).sort());

  const [line = ''] = /import \{ expect, test \} from 'vitest';/.exec(text) ?? [];
  expect(line).not.toBe('');
  expect(read(VITEST).replace(`${line}\n`, '')).toBe(read(join('jest', 'help-center.test.ts')));
});
