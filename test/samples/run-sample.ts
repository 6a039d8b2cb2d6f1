import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(__dirname, '../..');
const TSC = require.resolve('typescript/bin/tsc');

/**
 * Builds the samples as the npm script of a sample builds them, but in a folder of its own (another test file may be using
 * dist/ and samples/dist/), and runs one to its end. Rejects where the script would start something else.
 */
export async function runSample(file: string, script: string): Promise<{ stdout: string; stderr: string }> {
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  if (scripts[script]?.endsWith(`node samples/dist/${file}`) !== true)
    throw new Error(`${script} does not start ${file}`);
  const folder = await mkdtemp(join(tmpdir(), 'mcp-toolset-sample-'));
  const node = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: folder });
  try {
    for (const name of ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'src', 'samples']) {
      const filter = (path: string): boolean => !path.includes('dist');
      await cp(join(ROOT, name), join(folder, name), { recursive: true, filter });
    }
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
    await node(TSC, '-p', 'tsconfig.build.json');
    await node(TSC, '-p', 'samples');
    return await node(join('samples/dist', file));
  } finally {
    await rm(folder, { recursive: true });
  }
}
