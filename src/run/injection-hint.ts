import type { InjectionToken } from 'tsyringe';
import { ConfigurationError, messageOf } from '../errors';

const NO_METADATA =
  'the compiler must emit decorator metadata ("emitDecoratorMetadata"); where it cannot, as tsx and esbuild, name what the ' +
  "constructor injects with tsyringe's @inject(…)";

/**
 * What to do where tsyringe knows nothing of a class that has a constructor with parameters, to be put behind its own
 * message; `mark` is the decorator that the class lacks, as far as that can be told.
 */
export function injectionHint(message: string, { name }: { readonly name: string }, mark?: string): string {
  if (message !== `TypeInfo not known for "${name}"`) return '';
  return mark === undefined ? `: ${NO_METADATA}.` : `; mark it ${mark}, and ${NO_METADATA}.`;
}

/** What to throw in the place of the container's error where that is about this very class, of which tsyringe knows nothing. */
export function unknownClass(error: unknown, token: InjectionToken): ConfigurationError | undefined {
  const message = messageOf(error);
  const hint = typeof token === 'function' ? injectionHint(message, token, '@injectable()') : '';
  if (hint === '') return undefined;
  return new ConfigurationError(`Run#resolve: the container could not make an instance: ${message}${hint}`, {
    cause: error,
  });
}
