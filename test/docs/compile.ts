import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';
import type { Block } from './documents';

const ROOT = resolve(__dirname, '../..');

/** The repository's own settings; only what a block declares for its reader need not be used in it. */
export function options(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: unknown;
  };
  const parsed = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  return { ...parsed.options, noUnusedLocals: false, noUnusedParameters: false };
}

/** The settings that a tsconfig of a document gives its reader, who has the package installed. */
export function settingsOf(block: Block): ts.CompilerOptions {
  const { compilerOptions } = JSON.parse(block.code) as { compilerOptions: object };
  const { options: given, errors } = ts.convertCompilerOptionsFromJson(compilerOptions, ROOT);
  if (errors.length > 0) throw new Error(errors.map(messageOf).join('\n'));
  const { baseUrl, paths } = options();
  return { ...given, noEmit: true, ...(baseUrl !== undefined && { baseUrl }), ...(paths && { paths }) };
}

/**
 * The type errors of the blocks, compiled as ES modules of the repository's root, each with the file and line of its
 * Markdown. `prelude` declares, by document, what the blocks may use without saying where it comes from.
 */
export function typeErrors(
  blocks: readonly Block[],
  prelude: Readonly<Record<string, string>> = {},
  settings: ts.CompilerOptions = options(),
): string[] {
  const files = new Map<string, string>();
  const sources = blocks.map((block, index) => {
    const path = join(ROOT, `block-${index}.mts`);
    files.set(path, `${block.code}\nexport {};\n`);
    return { block, path };
  });
  const declared = [...new Set(blocks.map(({ file }) => prelude[file] ?? ''))].join('\n');
  files.set(join(ROOT, 'prelude.d.ts'), declared);
  const program = ts.createProgram([...files.keys()], settings, hostOf(files));
  return [
    ...ts.getPreEmitDiagnostics(program, program.getSourceFile(join(ROOT, 'prelude.d.ts'))).map(messageOf),
    ...sources.flatMap(({ block, path }) => {
      const source = program.getSourceFile(path);
      return ts.getPreEmitDiagnostics(program, source).map((fault) => {
        const line = source && fault.start !== undefined ? source.getLineAndCharacterOfPosition(fault.start).line : 0;
        return `${block.file}:${block.line + line} (block at line ${block.line}): ${messageOf(fault)}`;
      });
    }),
  ];
}

/** A host that has the given files beside those of the disk. */
function hostOf(files: ReadonlyMap<string, string>): ts.CompilerHost {
  const host = ts.createCompilerHost(options());
  const onDisk = { fileExists: host.fileExists.bind(host), readFile: host.readFile.bind(host) };
  const getSourceFile = host.getSourceFile.bind(host);
  host.fileExists = (path) => files.has(resolve(path)) || onDisk.fileExists(path);
  host.readFile = (path) => files.get(resolve(path)) ?? onDisk.readFile(path);
  host.getSourceFile = (path, languageVersion, ...rest) => {
    const text = files.get(resolve(path));
    if (text === undefined) return getSourceFile(path, languageVersion, ...rest);
    return ts.createSourceFile(path, text, languageVersion, true);
  };
  host.getCurrentDirectory = () => dirname(join(ROOT, 'package.json'));
  return host;
}

function messageOf({ code, messageText }: ts.Diagnostic): string {
  return `TS${code}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
}

/**
 * Runs a block, top-level `await` included, and gives back what it exports; `scope` holds `require` and whatever else it
 * takes for granted.
 */
export async function run(
  { code }: Block,
  scope: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { ...options(), module: ts.ModuleKind.CommonJS, moduleResolution: ts.ModuleResolutionKind.Node10 },
  });
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- running the documentation is the purpose
  const start = new Function('exports', ...Object.keys(scope), `return (async () => {${outputText}\n})()`) as (
    ...values: unknown[]
  ) => Promise<void>;
  const exported = {};
  await start(exported, ...Object.values(scope));
  return exported;
}
