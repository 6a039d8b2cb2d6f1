import { AWAKE, CATALOGS, described, httpTarget } from './targets.mjs';

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
        ...AWAKE,
      },
    });
    return [...CATALOGS.map((catalog) => row(catalog, 'json')), row({ tools: 1_000, schemas: true }, 'sse')];
  },
};
