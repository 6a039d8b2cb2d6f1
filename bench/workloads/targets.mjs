import { fileURLToPath } from 'node:url';

const STDIO_SERVER = fileURLToPath(new URL('../servers/stdio.mjs', import.meta.url));

/** Servers to measure against. `catalog` is how many tools they list, and whether these have output schemas. */
export function httpTarget(catalog, { baseUrl, mode = 'json' }) {
  return { kind: 'http', url: `${baseUrl}/${catalog.tools}/${schemaWord(catalog)}/${mode}`, catalog };
}

export function stdioTarget(catalog) {
  return {
    kind: 'stdio',
    command: process.execPath,
    args: [STDIO_SERVER, String(catalog.tools), schemaWord(catalog)],
    catalog,
  };
}

export function memoryTarget(catalog) {
  return { kind: 'memory', catalog };
}

function schemaWord({ schemas }) {
  return schemas ? 'schemas' : 'plain';
}

/** How a row names a catalog. */
export function described({ tools, schemas }) {
  return `${tools.toLocaleString('en')} tools${schemas ? ', output schemas' : ''}`;
}

/** The catalogs that rows differ by. */
export const CATALOGS = [10, 100, 1_000].flatMap((tools) => [false, true].map((schemas) => ({ tools, schemas })));

/**
 * A turn of runs, in milliseconds. A process that has rested while the others took their turns is slow for about a second,
 * which does not count. Turns are as long for all: with as many runs for all, the fastest would be measured soonest after
 * its rest.
 */
export const AWAKE = { lead: 1_500, span: 500 };
