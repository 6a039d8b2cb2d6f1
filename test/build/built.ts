import { exec } from 'node:child_process';
import { existsSync, watch } from 'node:fs';
import { cp, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(__dirname, '../..');
const COPIED = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'src', 'samples'];

/**
 * A copy of the repository in which the library and the samples are built as `npm start` builds them, so that the
 * repository's own dist/ stays untouched. There is one for all test files of a run: the first that asks builds it, those
 * of other workers wait. Nobody changes what is built.
 * @throws Error with the compiler's complaints
 */
export async function built(): Promise<string> {
  const folder = process.env.MCP_TOOLSET_BUILD;
  if (folder === undefined) throw new Error('test/build/set-up.ts has not run');
  const outcome = join(folder, 'outcome.txt');
  if (await isFirst(folder)) {
    await writeFile(`${outcome}.new`, await build(folder).then(() => '', complaintsOf));
    await rename(`${outcome}.new`, outcome); // whoever waits for it finds all of it
  } else await existing(outcome, folder);
  const complaints = await readFile(outcome, 'utf8');
  if (complaints !== '') throw new Error(complaints);
  return folder;
}

async function isFirst(folder: string): Promise<boolean> {
  try {
    await mkdir(join(folder, 'building'));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function build(folder: string): Promise<void> {
  for (const name of COPIED) {
    const filter = (path: string): boolean => !path.split(/[/\\]/).some((part) => /^(dist|node_modules)$/.test(part));
    await cp(join(ROOT, name), join(folder, name), {
      recursive: true,
      filter: (path) => filter(path.slice(ROOT.length)),
    });
  }
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
  await promisify(exec)('npm run --silent build:samples', { cwd: folder });
}

function complaintsOf(error: unknown): string {
  const { message, stdout = '' } = error as Error & { stdout?: string };
  return `${message}\n${stdout}`;
}

function existing(file: string, folder: string): Promise<void> {
  return new Promise((resolved) => {
    const look = (): void => {
      if (!existsSync(file)) return;
      watcher.close();
      resolved();
    };
    const watcher = watch(folder, look);
    look();
  });
}
