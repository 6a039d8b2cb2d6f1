import { setImmediate } from 'node:timers/promises';

/**
 * Resolves when everything else in the process has had a turn. It is the function that there was when the library was
 * loaded, so that a test whose runner replaces timers afterwards stops no toolset.
 */
export const nextTurn: () => Promise<void> = setImmediate;
