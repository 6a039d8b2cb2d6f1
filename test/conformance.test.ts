import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { faultsOf, listedFailures } from '../conformance/verdict';
import { dependencies } from '../conformance/package.json';

const passes = (scenario: string) => ({ scenario, passed: 3, failed: 0, ok: true });
const fails = (scenario: string) => ({ scenario, passed: 3, failed: 1, ok: false });

describe('the verdict on a run of the conformance suite', () => {
  it('has no fault where what fails is listed and the rest passes', () => {
    expect(faultsOf([passes('a'), fails('auth/b')], ['auth/b'])).toEqual([]);
  });

  it('names what fails unlisted, what is listed and passes, and what is listed and unknown', () => {
    expect(faultsOf([fails('a'), passes('auth/b'), passes('c')], ['auth/b', 'gone'])).toEqual([
      expect.stringMatching(/^a does not pass/),
      expect.stringMatching(/^auth\/b passes/),
      expect.stringMatching(/^gone is listed/),
    ]);
  });

  it('reads the list from a table whose rows all have a reason', () => {
    const table = (reason: string) =>
      `| scenario | reason |\n| --- | --- |\n| \`auth/b\` | ${reason} |\n| \`c\` | old |\n`;
    expect(listedFailures(table('the SDK cannot'))).toEqual(['auth/b', 'c']);
    expect(() => listedFailures(table(' '))).toThrow('auth/b without a reason');
  });
});

it("conformance/README.md tells the suite's version", () => {
  const readme = readFileSync(join(__dirname, '../conformance/README.md'), 'utf8');
  expect(readme).toContain(`version ${dependencies['@modelcontextprotocol/conformance']}`);
});
