import { CATALOGS, described, httpTarget } from './targets.mjs';

/** One run over Streamable HTTP: connect, discover, ten calls, close. */
export const w1 = {
  id: 'W1',
  title: 'one run over Streamable HTTP, 10 calls',
  metrics: { ms: 'ms' },
  rows: ({ baseUrl }) => {
    const row = (catalog, mode) => ({
      label: described(catalog) + (mode === 'sse' ? ', event streams' : ''),
      rounds: catalog.tools < 1_000 ? 25 : 10,
      task: {
        task: 'runs',
        target: httpTarget(catalog, { baseUrl, mode }),
        // The first runs after the turns of the others are slower than what is measured: those of a busy service.
        count: 12,
        callsPerRun: 10,
      },
    });
    return [...CATALOGS.map((catalog) => row(catalog, 'json')), row({ tools: 1_000, schemas: true }, 'sse')];
  },
};
