import { CATALOGS, described, httpTarget } from './targets.mjs';

/** One run over Streamable HTTP: connect, discover, ten calls, close. */
export const w1 = {
  id: 'W1',
  title: 'one run over Streamable HTTP, 10 calls',
  metrics: { ms: 'ms' },
  rows: ({ baseUrl }) => {
    const row = (catalog, mode) => ({
      label: described(catalog) + (mode === 'sse' ? ', event streams' : ''),
      rounds: catalog.tools < 1_000 ? 15 : 10,
      task: {
        task: 'runs',
        target: httpTarget(catalog, { baseUrl, mode }),
        // A process that has rested while the others took their turns is slow for some hundred milliseconds.
        lead: 500,
        count: 12,
        callsPerRun: 10,
      },
    });
    return [...CATALOGS.map((catalog) => row(catalog, 'json')), row({ tools: 1_000, schemas: true }, 'sse')];
  },
};
