import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { built } from '../build/built';

/** The interactive sample. */
let folder: string;
let output = '';
let complaints = '';

beforeAll(async () => {
  folder = await built();
  const started = promisify(execFile)(process.execPath, ['samples/dist/interactive/main.js'], { cwd: folder });
  ({ stdout: output, stderr: complaints } = await started);
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
  const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { scripts: object };
  expect(scripts).toMatchObject({
    'sample:interactive': expect.stringMatching(/samples\/dist\/interactive\/main\.js$/),
  });
});
