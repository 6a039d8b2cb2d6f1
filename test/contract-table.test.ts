import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SCRIPT = join(__dirname, '..', 'scripts', 'contract-table.cjs');
const MARKERS = '<!-- rules and their tests: begin -->\n<!-- rules and their tests: end -->\n';

function run(...args: string[]): string {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], { encoding: 'utf8' });
  return status === 0 ? '' : stderr.trim();
}

it('every rule of docs/contract.md has a test, and its table is up to date', () => {
  expect(run('--check')).toBe('');
});

describe('the table of another repository', () => {
  const root = mkdtempSync(join(tmpdir(), 'contract-'));
  const write = (path: string, text: string): void => writeFileSync(join(root, path), text);
  const rules = (...numbers: number[]): string => numbers.map((number) => `- <a id="r${number}"></a>\n`).join('');
  const table = (): string[] =>
    readFileSync(join(root, 'docs', 'contract.md'), 'utf8')
      .split('\n')
      .flatMap((line) => (line.startsWith('| [R') ? line.replace(/\s+/g, ' ') : []));

  beforeAll(() => {
    mkdirSync(join(root, 'docs'));
    mkdirSync(join(root, 'test', 'deep'), { recursive: true });
  });

  afterAll(() => rmSync(root, { recursive: true }));

  it('counts what names a rule in its own title or in one around it', () => {
    write('docs/contract.md', rules(1, 2, 3, 4, 5, 6) + MARKERS);
    write(
      'test/deep/a.test.ts',
      [
        "describe('R1: outer', () => {",
        "  it('R1: named twice, counted once', () => {});",
        `  describe('inner', () => { it.${'only'}('of R9 is no rule here', () => {}); });`,
        '  it.each([[1], [2]])(`R2, R3 and R4: ${"x"} %s`, () => {});',
        '  it.each`a\n${1}`("R2: a table", () => {});',
        '});',
        "test('R4: ' + 'joined', () => {});",
      ].join('\n'),
    );
    write(
      'test/b.test.ts',
      [
        "it('R4: elsewhere', () => {});",
        `it.${'skip'}('R5: skipped', () => {});`,
        `it.${'todo'}('R5: to do');`,
        `describe.${'skip'}('R5: skipped', () => { it('R5: too', () => {}); });`,
        "// it('R6: a comment')",
        'const text = "it(\'R6: a string\', () => {})";',
      ].join('\n'),
    );

    expect(run(root)).toBe('');

    const a = '`test/deep/a.test.ts`';
    expect(table()).toEqual([
      `| [R1](#r1) | ${a} | 4 |`,
      `| [R2](#r2) | ${a} | 2 |`,
      `| [R3](#r3) | ${a} | 1 |`,
      `| [R4](#r4) | \`test/b.test.ts\`, ${a} | 3 |`,
      '| [R5](#r5) | none | 0 |',
      '| [R6](#r6) | none | 0 |',
    ]);
    expect(run('--check', root)).toBe('R5 has no test\nR6 has no test');
  });

  it('is stale when the tests have changed, until it is written again', () => {
    write('docs/contract.md', rules(1, 2) + MARKERS);
    write('test/deep/a.test.ts', "it('R1: one', () => {});");
    write('test/b.test.ts', "it('R2: one', () => {});");
    run(root);
    expect(run('--check', root)).toBe('');

    write('test/b.test.ts', "it('R2: one', () => {});\nit('R1: two', () => {});");

    expect(run('--check', root)).toBe('the table of docs/contract.md is stale: run `npm run contract`');
    run(root);
    expect(run('--check', root)).toBe('');
  });

  it('refuses a gap between the rules, and a test of a rule that does not exist', () => {
    write('docs/contract.md', rules(1, 3) + MARKERS);
    write('test/deep/a.test.ts', "it('R1: one', () => {});\nit('R3: three', () => {});");
    write('test/b.test.ts', "it('R7: none', () => {});");
    run(root);

    expect(run('--check', root)).toBe(
      'docs/contract.md has no rule R2\ntest/b.test.ts: R7 is no rule of docs/contract.md',
    );
  });
});
