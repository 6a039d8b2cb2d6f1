import { memoryTarget } from './targets.mjs';

const SIZES = [
  { size: 0, label: 'a short result', count: 1_000 },
  { size: 10_000, label: 'a result of 10 KB', count: 500 },
  { size: 1_000_000, label: 'a result of 1 MB', count: 20 },
];

/** One call to the SDK's own server in the same process. */
export const w3 = {
  id: 'W3',
  title: 'one call in memory',
  metrics: { us: 'µs' },
  contenders: ['floor', 'mcp-toolset', 'official client'],
  rows: () =>
    [false, true].flatMap((schemas) =>
      SIZES.map(({ size, label, count }) => ({
        label: label + (schemas ? ', output schema' : ''),
        rounds: 25,
        task: { task: 'calls', target: memoryTarget({ tools: 10, schemas }), count, size },
      })),
    ),
};
