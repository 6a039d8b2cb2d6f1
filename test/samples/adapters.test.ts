import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { built } from '../build/built';

/** The samples of the adapters without a key. */
const NAMES = ['anthropic', 'openai', 'ai-sdk', 'openai-agents'] as const;

let folder: string;
const outputs = new Map<string, { stdout: string; stderr: string }>();

beforeAll(async () => {
  folder = await built();
  const { ANTHROPIC_API_KEY: _, OPENAI_API_KEY: __, AI_GATEWAY_API_KEY: ___, ...env } = process.env;
  const start = (name: string) =>
    promisify(execFile)(process.execPath, [`samples/dist/adapters/${name}.js`], { cwd: folder, env });
  await Promise.all(NAMES.map(async (name) => outputs.set(name, await start(name))));
}, 300_000);

it.each(NAMES)('%s says that a script plays the model, and shows real calls and their results', (name) => {
  const { stdout, stderr } = outputs.get(name) ?? { stdout: '', stderr: 'it did not run' };
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^No key is set: a script(ed endpoint on this machine)? plays the model\.\n/);
  expect(stdout).toMatch(/→ get-sum \{"a":19,"b":23\}\n→ get-tiny-image \{\}/);
  expect(stdout).toContain('The sum of 19 and 23 is 42.');
  expect(stdout).toMatch(/\[(image|input_image)\]/);
  expect(stdout.trimEnd()).toMatch(/It is 42, and the image has arrived\.$/);
});

it.each(NAMES)('%s is what the script of its name starts', async (name) => {
  const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { scripts: object };
  const started = expect.stringMatching(new RegExp(`samples/dist/adapters/${name}\\.js$`));
  expect(scripts).toMatchObject({ [`sample:${name}`]: started });
});
