import { Child } from './child.mjs';
import { FLOOR, LIBRARY } from './contenders/index.mjs';
import { median, medianRatio } from './statistics.mjs';

/**
 * Milliseconds for which every contender does its task before the rounds that count: connections are made and code is
 * compiled, which goes on for hundreds of runs. What is measured is a service that has been up for a while.
 */
const WARM_UP = 6_000;

/**
 * Measures a row: every contender in a process of its own, all of them in turns, so that whatever else the machine does
 * meets all alike. Returns by contender and metric the median and the medians of the quotients. A row with `processes`
 * shares its rounds between as many processes of each contender.
 */
export async function measureRow(row, contenders) {
  const samples = contenders.map(() => []);
  const { processes = 1 } = row;
  for (let count = 0; count < processes; count += 1) await measure(row, contenders, samples);
  return Object.fromEntries(contenders.map((name, index) => [name, summary(samples[index], contenders, samples)]));
}

/** Takes the samples of the rounds that fall to one process of each contender. */
async function measure({ task, rounds, processes = 1, warmUp = WARM_UP }, contenders, samples) {
  const children = [];
  try {
    for (const name of contenders) {
      const child = await Child.start('./contender-process.mjs', name);
      children.push(child);
      for (const end = performance.now() + warmUp; performance.now() < end;) await asked(child, name, task);
    }
    for (let round = 0; round < rounds / processes; round += 1) {
      for (let turn = 0; turn < contenders.length; turn += 1) {
        const index = (turn + round) % contenders.length;
        samples[index].push(await asked(children[index], contenders[index], task));
      }
    }
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}

async function asked(child, name, task) {
  try {
    return await child.ask(task);
  } catch (error) {
    throw new Error(`${name}: ${error.message}`);
  }
}

/** By metric: the median, and how many times those of the floor and of the library it is. */
function summary(own, contenders, samples) {
  const column = (of, metric) => of.map((sample) => sample[metric]);
  const ratioTo = (name, metric) => {
    const other = samples[contenders.indexOf(name)];
    return other && medianRatio(column(own, metric), column(other, metric));
  };
  return Object.fromEntries(
    Object.keys(own[0]).map((metric) => [
      metric,
      {
        median: median(column(own, metric)),
        toFloor: ratioTo(FLOOR, metric),
        toLibrary: ratioTo(LIBRARY, metric),
      },
    ]),
  );
}
