// Writes the table of docs/contract.md: for each rule the test files that name it. With --check it only looks, and fails
// when a rule has no test or the table is stale. A folder may be given in place of this repository.
const { readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { join, sep } = require('node:path');
const ts = require('typescript');

const BEGIN = '<!-- rules and their tests: begin -->';
const END = '<!-- rules and their tests: end -->';
const RULES_OF_TITLE = /^\s*(R\d+(?:\W+(?:and\W+)?R\d+)*):/;

const args = process.argv.slice(2);
const root = args.find((arg) => arg !== '--check') ?? join(__dirname, '..');
const path = join(root, 'docs', 'contract.md');
const document = readFileSync(path, 'utf8');
const rules = [...document.matchAll(/<a id="r(\d+)"><\/a>/g)].map(([, number]) => `R${number}`);
const tests = testsByRule();
const table = tableOf();
const [before, after] = [document.indexOf(BEGIN), document.indexOf(END)];
if (before === -1 || after === -1) throw new Error(`${path}: expected the lines ${BEGIN} and ${END}`);
const wanted = `${document.slice(0, before)}${BEGIN}\n\n${table}\n\n${document.slice(after)}`;

if (args.includes('--check')) {
  const faults = faultsOf();
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
} else {
  writeFileSync(path, wanted);
}

function faultsOf() {
  const missing = rules.map((_, index) => `R${index + 1}`).filter((rule) => !rules.includes(rule));
  const untested = rules.filter((rule) => !tests.has(rule));
  const unknown = [...tests.keys()].filter((rule) => !rules.includes(rule));
  return [
    ...missing.map((rule) => `docs/contract.md has no rule ${rule}`),
    ...untested.map((rule) => `${rule} has no test`),
    ...unknown.map((rule) => `${filesOf(rule).join(', ')}: ${rule} is no rule of docs/contract.md`),
    ...(wanted === document ? [] : ['the table of docs/contract.md is stale: run `npm run contract`']),
  ];
}

function filesOf(rule) {
  return [...(tests.get(rule)?.keys() ?? [])].map((file) => `test/${file}`);
}

/** By rule: the files that test it, and how many tests of each name it, in their own title or one around it. */
function testsByRule() {
  const found = new Map();
  const files = readdirSync(join(root, 'test'), { recursive: true })
    .map((file) => file.split(sep).join('/'))
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules/'))
    .sort();
  for (const file of files) {
    const text = readFileSync(join(root, 'test', file), 'utf8');
    const visit = (node, around) => {
      const block = blockOf(node);
      const named = block ? new Set([...around, ...rulesOf(block.title)]) : around;
      if (block?.skipped) return;
      if (block?.isTest) named.forEach((rule) => add(rule, file));
      ts.forEachChild(node, (child) => visit(child, named));
    };
    visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest), new Set());
  }
  return found;

  function add(rule, file) {
    const counts = found.get(rule) ?? new Map();
    found.set(rule, counts.set(file, (counts.get(file) ?? 0) + 1));
  }
}

/** What a call of describe, it or test declares; also `it.only(…)`, `it.each(rows)(…)` and it.each`rows`(…). */
function blockOf(node) {
  if (!ts.isCallExpression(node)) return undefined;
  const names = [];
  let callee = node.expression;
  while (!ts.isIdentifier(callee)) {
    if (ts.isPropertyAccessExpression(callee)) names.push(callee.name.text);
    // `it.each(rows)` itself declares nothing: its title comes with the next call.
    callee = callee.expression ?? callee.tag;
    if (callee === undefined) return undefined;
  }
  const [, x, kind] = /^(x|f)?(describe|it|test)$/.exec(callee.text) ?? [];
  if (kind === undefined || (names[0] === 'each' && ts.isPropertyAccessExpression(node.expression))) return undefined;
  const skipped = x === 'x' || names.includes('skip') || names.includes('todo');
  return { title: textOf(node.arguments[0]), isTest: kind !== 'describe', skipped };
}

/** A title as far as the source shows it; what is only known at run time becomes `…`. */
function textOf(node) {
  if (node === undefined) return '';
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map((span) => `${textOf(span.expression)}${span.literal.text}`).join('');
  }
  if (ts.isBinaryExpression(node)) return textOf(node.left) + textOf(node.right);
  return ts.isParenthesizedExpression(node) ? textOf(node.expression) : '…';
}

function rulesOf(title) {
  return RULES_OF_TITLE.exec(title)?.[1].match(/R\d+/g) ?? [];
}

function tableOf() {
  const rows = rules.map((rule) => {
    const files = filesOf(rule).map((file) => `\`${file}\``);
    const total = [...(tests.get(rule)?.values() ?? [])].reduce((sum, count) => sum + count, 0);
    return [`[${rule}](#${rule.toLowerCase()})`, files.join(', ') || 'none', String(total)];
  });
  const lines = [['rule', 'test files', 'tests'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((cells) => cells[column].length)));
  const line = (cells, fill = ' ') =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column], fill)).join(' | ')} |`;
  return [line(lines[0]), line(['', '', ''], '-'), ...lines.slice(1).map((cells) => line(cells))].join('\n');
}
