import { exec, execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, posix, resolve } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { built } from '../build/built';
import { relativeLinksOf } from '../docs/documents';

/**
 * The package as a user gets it: built, packed by `npm pack`, unpacked into an application's node_modules beside the
 * packages that it declares and no others, and used from ES modules and from CommonJS. Nothing here needs the network.
 */
const ROOT = resolve(__dirname, '../..');
const SHIPPED = /^(dist\/.+\.(js|js\.map|d\.ts)|package\.json|docs\/.+\.md|README\.md|LICENSE|CHANGELOG\.md)$/;

interface Manifest {
  files: string[];
  exports: Record<string, string | Record<string, string>>;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
}

const LOADED = { stdout: '', stderr: '', code: 0 };

let folder: string;
let manifest: Manifest;
let packed: string[];

/** Runs a Node script and gives back what it printed, also when it failed. */
async function node(cwd: string, ...args: string[]): Promise<{ stdout: string; stderr: string; code: unknown }> {
  try {
    return { ...(await promisify(execFile)(process.execPath, args, { cwd, timeout: 60_000 })), code: 0 };
  } catch (error) {
    return error as { stdout: string; stderr: string; code: unknown };
  }
}

async function pack(): Promise<string> {
  const stage = join(folder, 'stage');
  await cp(join(await built(), 'dist'), join(stage, 'dist'), { recursive: true });
  const shipped = ['package.json', ...manifest.files.filter((name) => name !== 'dist')];
  for (const name of shipped) await cp(join(ROOT, name), join(stage, name), { recursive: true });
  const { stdout } = await promisify(exec)('npm pack --json --ignore-scripts', { cwd: stage });
  const [report] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  packed = report.files.map((file) => file.path);
  return join(stage, report.filename);
}

async function install(tarball: string): Promise<void> {
  const modules = join(folder, 'node_modules');
  const own = join(modules, 'mcp-toolset');
  await mkdir(own, { recursive: true });
  await promisify(execFile)('tar', ['-xzf', tarball, '-C', own, '--strip-components=1']);
  const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  for (const name of [...declared, '@types/node']) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), join(modules, name), 'junction');
  }
}

/** Compiles an application; returns the compiler's complaints about it and about our own declaration files. */
function compile(app: string, more: ts.CompilerOptions = {}): string[] {
  const cwd = join(folder, app);
  const { config } = ts.readConfigFile(join(cwd, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, cwd);
  const program = ts.createProgram(fileNames, { ...options, ...more });
  const isOurs = ({ fileName }: ts.SourceFile): boolean =>
    !fileName.includes('/node_modules/') || fileName.includes('/node_modules/mcp-toolset/');
  // File by file: to check the declarations of other packages, as a whole program does, takes ten times as long.
  const faultsOf = (file: ts.SourceFile) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ];
  const faults = [...program.getOptionsDiagnostics(), ...program.getSourceFiles().filter(isOurs).flatMap(faultsOf)];
  for (const name of fileNames) program.emit(program.getSourceFile(name));
  return faults.map(
    ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
  );
}

async function runApp(app: string): Promise<unknown> {
  const { stdout, stderr, code } = await node(join(folder, app), 'main.js');
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  return JSON.parse(stdout);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcp-toolset-package-'));
  manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Manifest;
  for (const app of ['esm', 'cjs']) await cp(join(ROOT, 'test/apps', app), join(folder, app), { recursive: true });
  await install(await pack());
}, 120_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the packed package', () => {
  it('holds the build and the documents, and nothing else', () => {
    expect(packed.filter((path) => !SHIPPED.test(path))).toEqual([]);
    expect(packed).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md']));
  });

  it('holds every file to which its documents link', async () => {
    const links = packed
      .filter((file) => file.endsWith('.md'))
      .map(async (file) => {
        const text = await readFile(join(folder, 'node_modules/mcp-toolset', file), 'utf8');
        const paths = relativeLinksOf(text).map((target) => target.replace(/#.*/, ''));
        return paths.filter((path) => path !== '').map((path) => posix.join(posix.dirname(file), path));
      });
    const linked = (await Promise.all(links)).flat();
    expect(linked).toContain('docs/guide.md');
    expect(linked.filter((path) => !packed.includes(path))).toEqual([]);
  });

  it('holds every file that its exports name, types first', () => {
    for (const target of Object.values(manifest.exports)) {
      const files = typeof target === 'string' ? [target] : Object.values(target);
      expect(packed).toEqual(expect.arrayContaining(files.map((file) => file.replace(/^\.\//, ''))));
      if (typeof target === 'object') expect(Object.keys(target)).toEqual(['types', 'default']);
    }
  });

  it("works in an application of ES modules, with the SDK's ES build", async () => {
    expect(compile('esm')).toEqual([]);
    expect(await runApp('esm')).toEqual({
      names: ['notes_add', 'notes_refuse'],
      added: { status: 'success', content: 'added milk!' },
      refused: { status: 'error', content: expect.stringContaining('the notebook is full'), error: 'ToolError' },
      failures: [{ name: 'ProviderError', code: expect.any(String), own: true }],
      oneCopy: true,
    });
  }, 120_000);

  it('works in an application of CommonJS, and under exactOptionalPropertyTypes', async () => {
    expect(compile('cjs')).toEqual([]);
    expect(await runApp('cjs')).toEqual({
      names: ['echo', 'forecast', 'status'],
      forecast: { status: 'success', content: '{"sky":"rain","actor":"ada"}', value: { sky: 'rain', actor: 'ada' } },
      status: { status: 'success', content: 'on its way', value: 'on its way' },
      echo: { status: 'success', content: 'hello', value: 'hello' },
      calls: 1,
      presented: [3, 3, 3],
      sessions: 0,
    });
  }, 120_000);

  it('has entries that each load by themselves, whether or not the framework is installed', async () => {
    const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json');
    expect(entries).toEqual(expect.arrayContaining(['.', './anthropic', './openai', './ai-sdk', './openai-agents']));
    for (const entry of entries.map((path) => path.replace(/^\./, 'mcp-toolset'))) {
      const [required, imported] = await Promise.all([
        node(folder, '-e', `require(${JSON.stringify(entry)})`),
        node(folder, '--input-type=module', '-e', `await import(${JSON.stringify(entry)})`),
      ]);
      expect({ entry, required, imported }).toEqual({ entry, required: LOADED, imported: LOADED });
    }
    const loads = (script: string) => /\brequire\("(@anthropic-ai\/sdk|openai|@openai\/agents|ai")/.test(script);
    const scripts = packed.filter((path) => path.endsWith('.js'));
    const own = join(folder, 'node_modules/mcp-toolset');
    const texts = await Promise.all(scripts.map((path) => readFile(join(own, path), 'utf8')));
    expect(scripts.filter((_, index) => loads(texts[index] ?? ''))).toEqual([]);
  }, 120_000);

  it('fails one request, and not the process, where an application forgets an await', async () => {
    const script = `
      require('reflect-metadata');
      const { container } = require('tsyringe');
      const { RunFactory, Tool, ToolRegistry } = require('mcp-toolset');
      const { anthropicToolResults } = require('mcp-toolset/anthropic');
      const { openaiChatToolMessages, openaiToolOutputs } = require('mcp-toolset/openai');
      const wait = { name: 'wait', description: 'x', inputSchema: { type: 'object' }, call: () => new Promise(() => {}) };
      const asked = { id: '1', call_id: '1', name: 'wait', input: {}, function: { name: 'wait' } };
      const forgotten = {
        execute: (registry) => registry.execute(asked),
        anthropic: (registry) => anthropicToolResults(registry, { content: [{ ...asked, type: 'tool_use' }] }),
        responses: (registry) => openaiToolOutputs(registry, { output: [{ ...asked, type: 'function_call' }] }),
        chat: (registry) => openaiChatToolMessages(registry, { tool_calls: [{ ...asked, type: 'function' }] }),
      };
      async function handler(call) {
        const run = container.resolve(RunFactory).start();
        try {
          const registry = run.resolve(ToolRegistry);
          await registry.register(Tool.define(wait));
          return call(registry); // without an await, as it would be inside of "await using run"
        } finally {
          await run.close();
          await new Promise(setImmediate);
        }
      }
      (async () => {
        for (const [name, call] of Object.entries(forgotten)) {
          await handler(call).catch((error) => console.log(name, error.name));
        }
      })();
    `;
    const names = ['execute', 'anthropic', 'responses', 'chat'];
    const stdout = names.map((name) => `${name} CancelledError\n`).join('');
    expect(await node(folder, '-e', script)).toEqual({ ...LOADED, stdout });
  }, 60_000);

  it('gives its types to the older module resolution too', () => {
    const older = { module: ts.ModuleKind.CommonJS, moduleResolution: ts.ModuleResolutionKind.Node10 };
    expect(compile('cjs', { ...older, noEmit: true, skipLibCheck: true })).toEqual([]);
  }, 120_000);
});
