import { Child } from './child.mjs';
import { FLOOR, LIBRARY } from './contenders/index.mjs';
import { median, medianRatio } from './statistics.mjs';

/** Rounds that come before those that count, in which code is compiled and connections are made. */
const WARM_UP = 5;

/**
 * Measures a row: every contender in a process of its own, all of them in turns, so that whatever else the machine does
 * meets all alike. Returns by contender and metric the median and the medians of the quotients.
 */
export async function measureRow(row, contenders) {
  const children = [];
  const samples = contenders.map(() => []);
  const { warmUp = WARM_UP } = row;
  try {
    for (const name of contenders) children.push(await Child.start('./contender-process.mjs', name));
    for (let round = -warmUp; round < row.rounds; round += 1) {
      for (let turn = 0; turn < contenders.length; turn += 1) {
        const index = (turn + round + warmUp) % contenders.length;
        const sample = await children[index].ask(row.task).catch((error) => {
          throw new Error(`${contenders[index]}: ${error.message}`);
        });
        if (round >= 0) samples[index].push(sample);
      }
    }
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
  return Object.fromEntries(contenders.map((name, index) => [name, summary(samples[index], contenders, samples)]));
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
