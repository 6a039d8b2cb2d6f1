import { container, type DependencyContainer, type InjectionToken } from 'tsyringe';
import { ConfigurationError } from '../errors';
import { closedError } from './closed-error';
import type { Run } from './run';

interface RunScoped {
  readonly token: InjectionToken;
  readonly create: (run: Run) => unknown;
}

/** What a run's container knows of the run. */
interface RunScope {
  run: Run | undefined;
  readonly instances: Map<RunScoped, unknown>;
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

/**
 * Registers the run's own instances with its container, which the function that it returns takes back: what is left of a
 * container may be kept for long, as by V8, and is no reason to keep the run's tools.
 */
export function registerRunScope(run: Run, runContainer: DependencyContainer): () => void {
  const { id } = run;
  const scope: RunScope = { run, instances: new Map() };
  for (const declared of scoped) {
    runContainer.register(declared.token, { useFactory: () => instanceIn(scope, declared, id) });
  }
  return () => {
    scope.run = undefined;
    scope.instances.clear();
  };
}

function instanceIn({ run, instances }: RunScope, declared: RunScoped, runId: string): unknown {
  if (!run) throw closedError(runId);
  if (!instances.has(declared)) instances.set(declared, declared.create(run));
  run.markBound();
  return instances.get(declared);
}
