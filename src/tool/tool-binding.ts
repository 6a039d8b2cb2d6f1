import { container as rootContainer, type DependencyContainer } from 'tsyringe';
import { ConfigurationError } from '../errors';
import { Run } from '../run/run';
import { runScoped } from '../run/run-scope';
import { showOnly } from '../run/show-only';

/** What a tool or a callback may reach: the run it works for and the container that serves it. */
export class ToolBinding {
  /** The run, if the tools belong to one. */
  readonly run: Run | undefined;
  /** Where services are resolved from. Default: the run's container. */
  readonly container: DependencyContainer;

  /** @throws ConfigurationError when there is neither a run nor a container */
  constructor(parts: { readonly run?: Run | undefined; readonly container?: DependencyContainer | undefined }) {
    const { run } = parts;
    const container = parts.container ?? run?.container;
    if (run !== undefined && !(run instanceof Run)) {
      throw new ConfigurationError('ToolBinding: expected "run" to be a Run, as RunFactory#start returns it.');
    }
    if (container === undefined || typeof container.resolve !== 'function') {
      throw new ConfigurationError(
        'ToolBinding: expected "container" to be a tsyringe container, as in new ToolBinding({ container }).',
      );
    }
    this.run = run;
    this.container = container;
    showOnly(this, ['run']);
    Object.freeze(this);
  }

  /** A binding with some parts replaced; a run's own container goes with the run. */
  with(overrides: {
    readonly run?: Run | undefined;
    readonly container?: DependencyContainer | undefined;
  }): ToolBinding {
    const container = overrides.run && this.container === this.run?.container ? undefined : this.container;
    return new ToolBinding({ run: this.run, container, ...overrides });
  }
}

/** What a tool is bound to that nobody has bound. */
export const UNBOUND = new ToolBinding({ container: rootContainer });

runScoped(ToolBinding, (run) => new ToolBinding({ run, container: run.container }));
