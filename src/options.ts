import { z } from 'zod/v4';
import { ConfigurationError } from './errors';

/** The longest time that a Node.js timer can wait, in milliseconds. */
export const LONGEST_TIMER = 2 ** 31 - 1;

const millisecondsMessage = 'expected a finite number of milliseconds, at least 1';

/** A time in milliseconds: finite and at least 1. */
export const milliseconds = z.number({ error: millisecondsMessage }).min(1, { error: millisecondsMessage });

/** A whole number of at least 1. */
export const count = z
  .number({ error: 'expected a whole number of at least 1' })
  .int({ error: 'expected a whole number of at least 1' })
  .min(1, { error: 'expected a whole number of at least 1' });

/** A function, as far as that can be told. */
export const callable = z.custom<(...args: never[]) => unknown>((value) => typeof value === 'function', {
  error: 'expected a function',
});

/** What options belong to, as errors name it. */
export interface OptionsOwner {
  readonly where: string;
  readonly toolset?: string;
}

/**
 * Checks the options that an application gave.
 * @throws ConfigurationError that names every faulty or unknown option
 */
export function checkOptions<T>(schema: z.ZodType<T>, value: unknown, { where, toolset }: OptionsOwner): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(describeIssue).join('; ');
  throw new ConfigurationError(`${where}: ${faults}`, { toolset });
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.map((key) => `"${path === '' ? key : `${path}.${key}`}"`).join(', ');
    return `unknown option ${names}`;
  }
  const message = issue.message.replace(/^Invalid (input|option): /, '').replace(/^expected one of/, 'expected');
  return path === '' ? message : `option "${path}": ${message}`;
}

/** A copy without the keys whose value is undefined. */
export function defined<T extends object>(value: T | undefined): Partial<T> {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, entry]) => entry !== undefined)) as Partial<T>;
}
