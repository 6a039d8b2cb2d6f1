import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { built } from '../build/built';
import { blocksOf, documents } from '../docs/documents';
import { runTests, type Runner } from './runner';

/** What has to be told when an expectation on something fails; the table of failing/things.ts has the same names. */
const TOLD: Readonly<Record<string, readonly RegExp[]>> = {
  'structured content': [/articles/, /About refunds/],
  'an image': [/A chart\./],
  'an error': [/The index is being rebuilt\./, /error/],
  'an unknown tool': [/Unknown tool: seek/],
  'a ProviderError': [/ProviderError/, /It is not known whether/],
  names: [/refuse/, /leave/],
  specifications: [/Seeks\./, /Searches the articles\./],
  ToolRegistry: [/ToolRegistry \{/, /refuse/, /ada/],
  Run: [/Run \{/, /run-1/, /ada/],
  ToolBinding: [/ToolBinding \{/, /run-1/],
  'a tool': [/McpTool\(search\)/],
  'the class of a tool': [/McpTool\(search\)/, /HelpCenterTools/],
  'an error of register()': [/ProviderError/, /Toolset RemoteTools, initialize: .*fetch failed/],
  TestServer: [/TestServer \{/, /refuse/],
  RunFactory: [/RunFactory \{\}/],
  ClientFactory: [/ClientFactory \{\}/],
  CatalogStore: [/CatalogStore \{\}/],
  HTTP: [/HttpTransport \{\}/],
  stdio: [/StdioTransport \{\}/],
};
const NAMES = Object.keys(TOLD);

/** Credentials, internals, and what a printer says where it can say nothing. */
const UNWANTED = /hunter2|Container|AbortSignal|AbortController|Session \{|\[Getter|\[Circular|<ref \*|Symbol\(/;
const MOST_LINES = 60;

const SETTINGS: ts.CompilerOptions = {
  ...{ module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true },
  ...{ experimentalDecorators: true, emitDecoratorMetadata: true },
};

let folder: string;

/** The failing tests, in a folder from which `mcp-toolset` is found as from an application's. */
beforeAll(async () => {
  const build = await built();
  folder = await mkdtemp(join(tmpdir(), 'mcp-toolset-failing-'));
  for (const name of ['node_modules', 'dist']) await symlink(join(build, name), join(folder, name), 'junction');
  await cp(join(build, 'package.json'), join(folder, 'package.json'));
  await cp(join(__dirname, 'failing'), join(folder, 'ts'), { recursive: true });
  await mkdir(join(folder, 'js'));
  for (const name of ['things', 'jest.failing', 'node.failing']) {
    const code = await readFile(join(folder, 'ts', `${name}.ts`), 'utf8');
    const { outputText } = ts.transpileModule(code, { compilerOptions: SETTINGS });
    await writeFile(join(folder, 'js', `${name.replace('failing', 'test')}.js`), outputText);
  }
  await cp(join(build, 'samples/testing/tsconfig.json'), join(folder, 'ts/tsconfig.json'));
  await cp(join(folder, 'ts/vitest.failing.ts'), join(folder, 'ts/vitest.test.ts'));
}, 180_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

const outputs: string[] = [];

/** How each runner is told which tests to run, and what its report of a failed test begins with, before its name. */
const RUNNERS: [Runner, string, RegExp][] = [
  ['jest', 'js/jest.test.js', /^ {2}● /m],
  ['vitest', 'ts/vitest.test.ts', /^ FAIL .* > /m],
  ['node', 'js/node.test.js', /^✖ /m],
];

describe.each(RUNNERS)('%s', (runner, file, beginning) => {
  let output: string;
  beforeAll(async () => {
    output = (await runTests(runner, folder, file)).text;
    outputs.push(output);
  }, 120_000);

  it.each(NAMES)('tells what matters of %s in a few lines', (name) => {
    // Node tells each failure twice, as it happens and at the end.
    const isReport = (text: string): boolean => text.startsWith(`${name}\n`) || text.startsWith(`${name} (`);
    const report = output.split(beginning).findLast(isReport) ?? output;
    for (const part of TOLD[name] ?? []) expect(report).toMatch(part);
    expect(report).not.toMatch(UNWANTED);
    expect(report.split('\n').length).toBeLessThan(MOST_LINES);
  });
});

it('docs/testing.md shows what they print', () => {
  const { text = '' } = documents().find(({ file }) => file === 'docs/testing.md') ?? {};
  const shown = blocksOf('docs/testing.md', text).filter(({ language }) => language === 'text');
  const flat = (lines: string): string => lines.replace(/^\s+/gm, '').trim();
  const printed = flat(outputs.join('\n'));
  expect(shown).toHaveLength(2);
  for (const { code } of shown) expect(printed).toContain(flat(code));
});
