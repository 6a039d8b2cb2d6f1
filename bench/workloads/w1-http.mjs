import { CATALOGS, described, httpTarget } from './targets.mjs';

/** One run over Streamable HTTP: connect, discover, ten calls, close. */
export const w1 = {
  id: 'W1',
  title: 'one run over Streamable HTTP, 10 calls',
  metrics: { ms: 'ms' },
  rows: ({ baseUrl }) => {
    const row = (catalog, mode) => ({
      label: described(catalog) + (mode === 'sse' ? ', event streams' : ''),
      rounds: 10,
      task: {
        task: 'runs',
        target: httpTarget(catalog, { baseUrl, mode }),
        callsPerRun: 10,
        // A process that has rested while the others took their turns is slow for about a second, which does not count.
        // Turns are as long for all: with as many runs for all, the fastest would be measured soonest after its rest.
        lead: 1_500,
        span: 500,
      },
    });
    return [...CATALOGS.map((catalog) => row(catalog, 'json')), row({ tools: 1_000, schemas: true }, 'sse')];
  },
};
