import { described, httpTarget } from './targets.mjs';

const CATALOG = { tools: 100, schemas: true };

/** Runs over Streamable HTTP, 32 at any moment. */
export const w4 = {
  id: 'W4',
  title: '32 runs at a time over Streamable HTTP, 10 calls each',
  metrics: { ms: 'ms per run', p99: 'ms, 99th percentile' },
  rows: ({ baseUrl }) => [
    {
      label: described(CATALOG),
      rounds: 15,
      task: {
        task: 'parallelRuns',
        target: httpTarget(CATALOG, { baseUrl }),
        count: 64,
        callsPerRun: 10,
        width: 32,
      },
    },
  ],
};
