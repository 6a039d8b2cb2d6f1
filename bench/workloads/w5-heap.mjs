import { described, httpTarget } from './targets.mjs';

/** What an open run keeps in memory; of the floor, the client and the list that it read. */
export const w5 = {
  id: 'W5',
  title: 'heap of one open run',
  metrics: { kb: 'KB' },
  rows: ({ baseUrl }) =>
    [100, 1_000].flatMap((tools) =>
      [false, true].map((schemas) => ({
        label: described({ tools, schemas }),
        rounds: 3,
        warmUp: 0,
        task: { task: 'heapPerRun', target: httpTarget({ tools, schemas }, { baseUrl }), count: 20 },
      })),
    ),
};
