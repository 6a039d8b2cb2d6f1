import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import ts from 'typescript';
import house from '../floors.json';

/**
 * The floors of src/, read from the imports themselves (the linter checks the same list, file by file). Every function
 * here returns its violations as text, so that a failing test prints the file and the import at fault.
 */
interface SourceFile {
  /** Path below src/, without `.ts`. */
  name: string;
  text: string;
  tree: ts.SourceFile;
  /** Every module that it names: import, export from, import(), import types, require. */
  imports: string[];
}

const SRC = join(__dirname, '..', 'src');

function read(path: string): SourceFile {
  const text = readFileSync(path, 'utf8');
  const name = relative(SRC, path).split(sep).join('/').replace(/\.ts$/, '');
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const imports = ts.preProcessFile(text, true, true).importedFiles.map((file) => file.fileName);
  return { name, text, tree, imports };
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => read(join(SRC, path)));
const names = new Set(files.map((file) => file.name));

/** The floor whose name is the longest beginning of the path: `mcp/connection/http` is on `mcp/connection`. */
function floorOf(name: string): number {
  const matches = house.floors.filter((floor) => isIn(name, [floor])).sort((a, b) => b.length - a.length);
  return matches[0] === undefined ? -1 : house.floors.indexOf(matches[0]);
}

function isIn(name: string, places: readonly string[]): boolean {
  return places.some((place) => name === place || name.startsWith(`${place}/`));
}

/** A relative import as a path below src/; undefined for a package. */
function target(file: SourceFile, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  const path = posix.join(posix.dirname(file.name), specifier).replace(/\.js$/, '');
  return names.has(path) ? path : posix.join(path, 'index');
}

function* nodes(node: ts.Node): Generator<ts.Node> {
  yield node;
  for (const child of node.getChildren()) yield* nodes(child);
}

const places = (at: SourceFile, found: (node: ts.Node) => boolean, what: string): string[] =>
  [...nodes(at.tree)]
    .filter(found)
    .map((node) => `src/${at.name}.ts:${at.tree.getLineAndCharacterOfPosition(node.getStart()).line + 1} ${what}`);

function importsUpwards(file: SourceFile): string[] {
  const own = floorOf(file.name);
  if (own < 0) return [`src/${file.name}.ts is on no floor: add it to floors.json`];
  return file.imports.flatMap((specifier) => {
    const to = target(file, specifier);
    if (to === undefined) return [];
    const where = `src/${file.name}.ts imports '${specifier}'`;
    if (!names.has(to)) return [`${where}, which is no file of src/`];
    if (floorOf(to) !== own && [to, file.name].every((name) => isIn(name, house.apart))) {
      return [`${where}: entries stand side by side, and share what is on the floors below`];
    }
    return floorOf(to) > own ? [`${where}: '${house.floors[floorOf(to)]}' is above '${house.floors[own]}'`] : [];
  });
}

function sdkImports(file: SourceFile): string[] {
  const sdk = file.imports.filter((specifier) => specifier.startsWith('@modelcontextprotocol/'));
  return isIn(file.name, house.mayImportSdk) ? [] : sdk.map((found) => `src/${file.name}.ts imports '${found}'`);
}

/** A framework is loaded by the entry that is named after it, so that an application needs only its own. */
function frameworkImports(file: SourceFile): string[] {
  return Object.entries(house.frameworks).flatMap(([framework, entry]) => {
    const found = file.imports.filter((specifier) => specifier === framework || specifier.startsWith(`${framework}/`));
    return isIn(file.name, [entry]) ? [] : found.map((specifier) => `src/${file.name}.ts imports '${specifier}'`);
  });
}

function uses(file: SourceFile, pattern: RegExp, what: string): string[] {
  return places(file, (node) => ts.isIdentifier(node) && pattern.test(node.text), what);
}

function reflectUses(file: SourceFile): string[] {
  if (isIn(file.name, house.mayUseReflect)) return [];
  const imported = file.imports.includes('reflect-metadata') ? [`src/${file.name}.ts imports 'reflect-metadata'`] : [];
  return [...uses(file, /^Reflect$/, 'uses Reflect'), ...imported];
}

function defaultExports(file: SourceFile): string[] {
  const isDefault = (node: ts.Node) =>
    (ts.isExportAssignment(node) && node.isExportEquals === true) ||
    (node.kind === ts.SyntaxKind.DefaultKeyword && !ts.isDefaultClause(node.parent)) ||
    (ts.isExportSpecifier(node) && node.name.text === 'default');
  return places(file, isDefault, 'exports a default');
}

function tooLong(file: SourceFile): string[] {
  const lines = file.text.trimEnd().split('\n').length;
  return lines > house.maxLines ? [`src/${file.name}.ts has ${lines} lines (at most ${house.maxLines})`] : [];
}

/**
 * `import type` of a class that a decorated class injects: TypeScript then emits `Function` for it, and tsyringe resolves
 * nothing. A parameter with a decorator of its own (`@inject(…)`) does not rely on the emitted type.
 */
function typeOnlyInjections(file: SourceFile): string[] {
  const typeOnly = new Set<string>();
  for (const node of nodes(file.tree)) {
    if (ts.isImportSpecifier(node) && (node.isTypeOnly || node.parent.parent.isTypeOnly)) typeOnly.add(node.name.text);
  }
  const injects = (node: ts.Node) =>
    ts.isParameter(node) &&
    ts.isConstructorDeclaration(node.parent) &&
    (ts.getDecorators(node.parent.parent) ?? []).length > 0 &&
    (ts.getDecorators(node) ?? []).length === 0 &&
    node.type !== undefined &&
    ts.isTypeReferenceNode(node.type) &&
    typeOnly.has(node.type.typeName.getText());
  return places(file, injects, "injects a class that it imports with 'import type'");
}

/** Each circle once, as `a -> b -> a`. */
function circles(): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const edges = new Map(files.map((file) => [file.name, file.imports.map((specifier) => target(file, specifier))]));
  const visit = (name: string, path: string[]): void => {
    if (path.includes(name)) found.push([...path.slice(path.indexOf(name)), name].join(' -> '));
    if (path.includes(name) || done.has(name)) return;
    for (const next of edges.get(name) ?? []) if (next !== undefined) visit(next, [...path, name]);
    done.add(name);
  };
  for (const name of names) visit(name, []);
  return found;
}

describe('the house', () => {
  it('has files to look at', () => {
    expect(files.length).toBeGreaterThan(0);
  });

  it.each<[string, (file: SourceFile) => string[]]>([
    ['a file imports only from its own floor and those below', importsUpwards],
    ['the SDK is imported only where it is at home', sdkImports],
    ['a framework is imported only by its own entry', frameworkImports],
    ['only the metadata file touches Reflect', reflectUses],
    ['nothing is exported as a default', defaultExports],
    ['no file is too long', tooLong],
    ['an injected class is not imported as a type', typeOnlyInjections],
  ])('%s', (_, violations) => {
    expect(files.flatMap(violations)).toEqual([]);
  });

  it('no file imports itself, by any number of steps', () => {
    expect(circles()).toEqual([]);
  });
});
