/** How a scenario ended: its checks, and whether it passes by the suite's own rules. */
export interface ScenarioResult {
  readonly scenario: string;
  readonly passed: number;
  readonly failed: number;
  readonly ok: boolean;
}

const ROW = /^\| *`([^`]+)` *\|(.*)\|$/gm;

/**
 * The scenarios that a README lists as failing: the rows of a table that begin with a name in backticks.
 * @throws Error for a row without a reason
 */
export function listedFailures(readme: string): string[] {
  return [...readme.matchAll(ROW)].map(([, name = '', reason = '']) => {
    if (reason.trim() === '') throw new Error(`conformance/README.md lists ${name} without a reason`);
    return name;
  });
}

/** What is wrong with the results of a run, where these scenarios are listed as failing. */
export function faultsOf(results: readonly ScenarioResult[], listed: readonly string[]): string[] {
  const byName = new Map(results.map((result) => [result.scenario, result]));
  const unlisted = results.filter(({ scenario, ok }) => !ok && !listed.includes(scenario));
  return [
    ...unlisted.map(({ scenario }) => `${scenario} does not pass and is not listed in conformance/README.md`),
    ...listed.flatMap((name) => {
      const result = byName.get(name);
      if (!result) return `${name} is listed in conformance/README.md, but the suite has no such scenario`;
      return result.ok ? `${name} passes: take it off the list in conformance/README.md` : [];
    }),
  ];
}
