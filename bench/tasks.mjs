import { setImmediate } from 'node:timers/promises';
import { expected, toolName } from './servers/catalog.mjs';

/** What a contender's process can be asked to do: each returns numbers, and throws where an answer was not right. */
export const tasks = { runs, calls, parallelRuns, heapPerRun, heapGrowth };

/** One run after the other for `span` ms, at least one, when `lead` ms have gone by: mean ms of a run, by clock and processor. */
async function runs(open, { target, callsPerRun, lead = 0, span = 0 }) {
  const start = performance.now();
  while (performance.now() - start < lead) await oneRun(open, target, callsPerRun);
  const begun = performance.now();
  const stop = watch();
  let count = 0;
  do {
    await oneRun(open, target, callsPerRun);
    count += 1;
  } while (performance.now() - begun < span);
  const { ms, cpu } = stop();
  return { ms: ms / count, cpu: cpu / count };
}

/** One call after the other in one run: the mean microseconds of one. */
async function calls(open, { target, count, size }) {
  const session = await open(target);
  const name = toolName(0);
  const texts = [];
  const stop = watch();
  for (let index = 0; index < count; index += 1) texts.push(await session.call(name, { query: `q${index}`, size }));
  const { ms, cpu } = stop();
  await session.close();
  texts.forEach((text, index) => check(text, name, `q${index}`));
  return { us: (ms * 1_000) / count, cpu: (cpu * 1_000) / count };
}

/** Runs of which `width` are open at any moment: milliseconds per run, and the 99th percentile of how long one took. */
async function parallelRuns(open, { target, count, callsPerRun, width }) {
  const durations = [];
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const start = performance.now();
      await oneRun(open, target, callsPerRun);
      durations.push(performance.now() - start);
    }
  };
  const stop = watch();
  await Promise.all(Array.from({ length: width }, worker));
  const { ms, cpu } = stop();
  durations.sort((a, b) => a - b);
  return {
    ms: ms / count,
    cpu: cpu / count,
    p99: durations[Math.ceil(count * 0.99) - 1],
    perSecond: (count * 1_000) / ms,
  };
}

/** Kilobytes of heap that one open run holds, its catalog included. */
async function heapPerRun(open, { target, count }) {
  await oneRun(open, target, 1);
  const before = await heapUsed();
  const sessions = [];
  for (let index = 0; index < count; index += 1) sessions.push(await open(target));
  const after = await heapUsed();
  for (const session of sessions) {
    checkCount(session, target);
    await session.close();
  }
  return { kb: (after - before) / count / 1_024 };
}

/** Kilobytes by which the heap grows with `count` runs one after the other, when a tenth as many have gone before. */
async function heapGrowth(open, { target, count, callsPerRun }) {
  for (let index = 0; index < count / 10; index += 1) await oneRun(open, target, callsPerRun);
  const before = await heapUsed();
  for (let index = 0; index < count; index += 1) await oneRun(open, target, callsPerRun);
  return { kb: ((await heapUsed()) - before) / 1_024 };
}

/** Connects, discovers, calls and closes; the answers are looked at, so that nobody wins by doing less. */
async function oneRun(open, target, callsPerRun) {
  const session = await open(target);
  const { tools } = target.catalog;
  const made = [];
  for (let index = 0; index < callsPerRun; index += 1) {
    const name = toolName(Math.floor((index * tools) / callsPerRun));
    const query = `q${index}`;
    made.push({ name, query, text: await session.call(name, { query }) });
  }
  await session.close();
  checkCount(session, target);
  for (const { text, name, query } of made) check(text, name, query);
}

function checkCount({ toolCount }, { catalog }) {
  if (toolCount !== catalog.tools) throw new Error(`${toolCount} tools instead of ${catalog.tools}`);
}

function check(text, name, query) {
  if (typeof text !== 'string' || !text.includes(expected(name, query))) {
    throw new Error(`${name} answered ${query} with ${JSON.stringify(text)?.slice(0, 200)}`);
  }
}

/** Measures from now until the function that it returns is called. */
function watch() {
  const cpu = process.cpuUsage();
  const start = performance.now();
  return () => {
    const ms = performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    return { ms, cpu: (user + system) / 1_000 };
  };
}

/** Bytes of the heap after a collection, once what was closing has ended. */
async function heapUsed() {
  for (let round = 0; round < 5; round += 1) {
    await setImmediate();
    globalThis.gc();
  }
  return process.memoryUsage().heapUsed;
}
