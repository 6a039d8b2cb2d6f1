import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/**
 * The interactive sample, built as `npm run sample:interactive` builds it, but in a folder of its own: another test file
 * may be using dist/ and samples/dist/.
 */
const ROOT = resolve(__dirname, '../..');
const TSC = require.resolve('typescript/bin/tsc');

let output = '';
let complaints = '';

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-toolset-interactive-'));
  const node = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: folder });
  try {
    for (const name of ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'src', 'samples']) {
      const filter = (path: string): boolean => !path.includes('dist');
      await cp(join(ROOT, name), join(folder, name), { recursive: true, filter });
    }
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
    await node(TSC, '-p', 'tsconfig.build.json');
    await node(TSC, '-p', 'samples');
    ({ stdout: output, stderr: complaints } = await node('samples/dist/interactive/main.js'));
  } finally {
    await rm(folder, { recursive: true });
  }
}, 180_000);

/** What is shown of each call, with one space for any. */
const parts = (): string[] => output.split('\n\n').map((part) => part.replace(/\s+/g, ' ').trim());

it('complains about nothing', () => {
  expect(complaints).toBe('');
});

it("answers a form by what its user says, and by the schema's defaults", () => {
  const [form] = parts();
  expect(form).toContain('The server of trigger-elicitation-request asks ada: Please provide inputs');
  expect(form).toContain('Your name (empty to decline): Ada Lovelace');
  expect(form).toContain('trigger-elicitation-request: success');
  expect(form).toContain('"name": "Ada Lovelace"');
  expect(form).toContain('"integer": 42');
});

it('shows where a link leads, and declines where its user does', () => {
  const [, link] = parts();
  expect(link).toContain('Open bank.example? (yes/no) no');
  expect(link).toContain('User declined to open the URL');
});

it('lets a model answer within the budget, and refuses what is over it', () => {
  const [, , allowed, refused] = parts();
  expect(allowed).toMatch(/^Sampling allowed: 400 tokens, 100 left\. trigger-sampling-request: success/);
  expect(allowed).toContain('"model": "stand-in"');
  expect(refused).toMatch(/^Sampling refused: 400 tokens wanted, 100 left\. trigger-sampling-request: error/);
  expect(refused).toContain('The sampling budget of this run is used up (100 tokens left).');
});

it('is what the script of its name starts', async () => {
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  expect(scripts).toMatchObject({
    'sample:interactive': expect.stringMatching(/samples\/dist\/interactive\/main\.js$/),
  });
});
