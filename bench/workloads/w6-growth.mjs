import { httpTarget } from './targets.mjs';

const CATALOG = { tools: 10, schemas: true };

/** What is left in memory of runs that have ended. */
export const w6 = {
  id: 'W6',
  title: 'growth of the heap',
  metrics: { kb: 'KB' },
  contenders: ['floor', 'mcp-toolset'],
  rows: ({ baseUrl, quick }) => {
    const count = quick ? 1_000 : 10_000;
    return [
      {
        label: `${count.toLocaleString('en')} runs of one call`,
        rounds: 1,
        warmUp: 0,
        // A difference of two heaps, of which both may be nothing: the quotient says nothing.
        isAbsolute: true,
        task: { task: 'heapGrowth', target: httpTarget(CATALOG, { baseUrl }), count, callsPerRun: 1 },
      },
    ];
  },
};
