import { CATALOGS, described, stdioTarget } from './targets.mjs';

/** One run over stdio, the start of the server's process included. */
export const w2 = {
  id: 'W2',
  title: 'one run over stdio, 10 calls',
  metrics: { ms: 'ms' },
  rows: () =>
    CATALOGS.map((catalog) => ({
      label: described(catalog),
      rounds: 60,
      task: { task: 'runs', target: stdioTarget(catalog), callsPerRun: 10 },
    })),
};
