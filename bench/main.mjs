import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { Child } from './child.mjs';
import { ALL } from './contenders/index.mjs';
import { table } from './report.mjs';
import { measureRow } from './row.mjs';
import { workloads } from './workloads/index.mjs';

const USAGE = `npm run bench -- [W1 W2 …] [options]

  --quick           fewer rounds: a look, not a measurement
  --rounds <n>      rounds of every row
  --row <text>      only rows whose name contains the text
  --only <a,b,…>    only these contenders: ${ALL.join(', ')}
  --json <file>     where the numbers go (default: bench/results/latest.json)
  --docs            also puts the table into docs/performance.md`;

const QUICK_ROUNDS = 5;

const machine = { node: process.version, cpu: cpus()[0]?.model, cpus: cpus().length };

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean' },
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    row: { type: 'string', default: '' },
    only: { type: 'string' },
    docs: { type: 'boolean', default: false },
    json: { type: 'string', default: new URL('./results/latest.json', import.meta.url).pathname },
  },
});

const wanted = workloads.filter(({ id }) => positionals.length === 0 || positionals.includes(id));
if (options.help || wanted.length === 0) {
  console.log(USAGE);
  process.exit(options.help ? 0 : 1);
}

const server = await Child.start('./servers/http.mjs');
const baseUrl = `http://127.0.0.1:${server.ready.port}`;
const results = [];
try {
  for (const workload of wanted) await measureWorkload(workload);
} finally {
  await server.stop();
}
await writeResults();
if (options.docs) await writeDocs();
console.log(`\n${table(results)}`);

async function measureWorkload({ id, title, metrics, contenders = ALL, rows }) {
  console.error(`${id}: ${title}`);
  const chosen = contenders.filter((name) => options.only?.split(',').includes(name) ?? true);
  for (const row of rows({ baseUrl, quick: options.quick })) {
    if (!row.label.includes(options.row)) continue;
    const measured = await measureRow({ ...row, rounds: roundsOf(row) }, chosen);
    console.error(`  ${row.label}`);
    for (const [metric, unit] of Object.entries(metrics)) {
      const { isAbsolute = false } = row;
      results.push({ workload: id, row: row.label, metric, unit, isAbsolute, contenders: measured });
    }
  }
}

function roundsOf({ rounds }) {
  if (options.rounds !== undefined) return Number(options.rounds);
  return options.quick ? Math.min(rounds, QUICK_ROUNDS) : rounds;
}

/** Puts the table between its marks, with what it was measured on. */
async function writeDocs() {
  const path = new URL('../docs/performance.md', import.meta.url);
  const { node, cpu, cpus: count } = machine;
  const text = `Node ${node}, ${count} cores (${cpu}).\n\n${table(results)}`;
  const docs = await readFile(path, 'utf8');
  await writeFile(path, docs.replace(/(<!-- table -->\n)[^]*(\n<!-- end of table -->)/, `$1\n${text}\n$2`));
}

async function writeResults() {
  const { packages } = JSON.parse(await readFile(new URL('./package-lock.json', import.meta.url), 'utf8'));
  const versions = Object.fromEntries(
    Object.keys(packages[''].dependencies).map((name) => [name, packages[`node_modules/${name}`].version]),
  );
  await mkdir(dirname(options.json), { recursive: true });
  await writeFile(options.json, `${JSON.stringify({ machine, versions, results }, null, 2)}\n`);
}
