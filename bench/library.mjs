import { createRequire } from 'node:module';

/**
 * Loads a package as the root of the repository sees it: `mcp-toolset` is its built `dist`, and the SDK is the one copy
 * that the library itself uses, so that the floor is measured with the same client.
 */
export const fromRoot = createRequire(new URL('../package.json', import.meta.url));
