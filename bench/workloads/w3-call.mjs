import { memoryTarget } from './targets.mjs';

const SIZES = [
  { size: 0, label: 'a short result', count: 10_000 },
  { size: 10_000, label: 'a result of 10 KB', count: 4_000 },
  { size: 1_000_000, label: 'a result of 1 MB', count: 50 },
];

/**
 * One call to the SDK's own server in the same process. Of so short a task one process can be a third faster than the
 * next one, for as long as both live, so there are several; and the SDK's server leaves so much to the collector that a
 * turn has to last for some hundred milliseconds to have its share of it.
 */
export const w3 = {
  id: 'W3',
  title: 'one call in memory',
  metrics: { us: 'µs' },
  contenders: ['floor', 'mcp-toolset', 'official client'],
  rows: () =>
    [false, true].flatMap((schemas) =>
      SIZES.map(({ size, label, count }) => ({
        label: label + (schemas ? ', output schema' : ''),
        rounds: 24,
        processes: 4,
        warmUp: 2_000,
        task: { task: 'calls', target: memoryTarget({ tools: 10, schemas }), count, size },
      })),
    ),
};
