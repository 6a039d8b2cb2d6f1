import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** The samples of the adapters without a key, built in a folder of their own: another test file may be using dist/. */
const ROOT = resolve(__dirname, '../..');
const TSC = require.resolve('typescript/bin/tsc');
const NAMES = ['anthropic', 'openai', 'ai-sdk', 'openai-agents'] as const;

const outputs = new Map<string, { stdout: string; stderr: string }>();

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-toolset-adapters-'));
  const { ANTHROPIC_API_KEY: _, OPENAI_API_KEY: __, AI_GATEWAY_API_KEY: ___, ...env } = process.env;
  const node = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: folder, env });
  try {
    for (const name of ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'src', 'samples']) {
      const filter = (path: string): boolean => !path.includes('dist');
      await cp(join(ROOT, name), join(folder, name), { recursive: true, filter });
    }
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
    await node(TSC, '-p', 'tsconfig.build.json');
    await node(TSC, '-p', 'samples');
    for (const name of NAMES) outputs.set(name, await node(`samples/dist/adapters/${name}.js`));
  } finally {
    await rm(folder, { recursive: true });
  }
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
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  const started = expect.stringMatching(new RegExp(`samples/dist/adapters/${name}\\.js$`));
  expect(scripts).toMatchObject({ [`sample:${name}`]: started });
});
