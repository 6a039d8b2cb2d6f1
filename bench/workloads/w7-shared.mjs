import { AWAKE, described, httpTarget } from './targets.mjs';

const ROWS = [
  { label: 'shared catalog, no call', sharing: 'catalog', callsPerRun: 0 },
  { label: 'shared catalog, one call', sharing: 'catalog', callsPerRun: 1 },
  { label: 'shared catalog and warm session, one call', sharing: 'session', callsPerRun: 1 },
];

/** Runs that share what the application lets them share; the floor shares nothing. */
export const w7 = {
  id: 'W7',
  title: 'one run that shares a catalog, or a session too',
  metrics: { ms: 'ms' },
  contenders: ['floor', 'mcp-toolset'],
  rows: ({ baseUrl }) =>
    [100, 1_000].flatMap((tools) => {
      const catalog = { tools, schemas: true };
      return ROWS.map(({ label, sharing, callsPerRun }) => ({
        label: `${described(catalog)}, ${label}`,
        rounds: 15,
        task: { task: 'runs', target: { ...httpTarget(catalog, { baseUrl }), sharing }, callsPerRun, ...AWAKE },
      }));
    }),
};
