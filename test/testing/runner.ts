import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';

/** What a run of tests came to. */
export interface Outcome {
  readonly code: unknown;
  /** What a developer reads, without colours. */
  readonly text: string;
}

const binOf = (name: string, bin: string): string => join(dirname(require.resolve(`${name}/package.json`)), bin);

/** How each runner is started. */
const STARTED = {
  jest: [binOf('jest', 'bin/jest.js')],
  vitest: [binOf('vitest', 'vitest.mjs'), 'run'],
  node: ['--test', '--test-reporter=spec'],
} as const;

/** A test runner. */
export type Runner = keyof typeof STARTED;

/** Runs tests as a developer does, in a folder. */
export async function runTests(runner: Runner, cwd: string, ...args: readonly string[]): Promise<Outcome> {
  // What this runner tells its children is not meant for another one.
  const { NODE_TEST_CONTEXT: _, JEST_WORKER_ID: __, FORCE_COLOR: ___, NODE_ENV: ____, ...env } = process.env;
  const options = { cwd, env: { ...env, NO_COLOR: '1' }, timeout: 120_000, maxBuffer: 64 * 1024 * 1024 };
  const { stdout, stderr, code } = await promisify(execFile)(
    process.execPath,
    [...STARTED[runner], ...args],
    options,
  ).then(
    (written) => ({ ...written, code: 0 }),
    (error: unknown) => error as { stdout: string; stderr: string; code: unknown },
  );
  return { code, text: stripVTControlCharacters(`${stdout}\n${stderr}`) };
}
