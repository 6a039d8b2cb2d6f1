import { container, type DependencyContainer, type InjectionToken } from 'tsyringe';
import { ConfigurationError } from '../errors';
import type { Run } from './run';

interface RunScoped {
  readonly token: InjectionToken;
  readonly create: (run: Run) => unknown;
}

const scoped: RunScoped[] = [];

/** Declares a token of which every run has one instance, made when it is first resolved from the run's container. */
export function runScoped<T>(token: InjectionToken<T> & { readonly name: string }, create: (run: Run) => T): void {
  scoped.push({ token, create });
  container.register<T>(token, {
    useFactory: () => {
      throw new ConfigurationError(
        `${token.name} belongs to a run: resolve it from a run, as in run.resolve(…), not from another container.`,
      );
    },
  });
}

/** Registers the run's own instances with its container. */
export function registerRunScope(run: Run, runContainer: DependencyContainer): void {
  for (const { token, create } of scoped) {
    let made: { readonly instance: unknown } | undefined;
    const useFactory = (): unknown => {
      made ??= { instance: create(run) };
      run.markBound();
      return made.instance;
    };
    runContainer.register(token, { useFactory });
  }
}
