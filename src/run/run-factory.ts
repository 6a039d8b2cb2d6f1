import { randomUUID } from 'node:crypto';
import { container as rootContainer, type DependencyContainer } from 'tsyringe';
import { z } from 'zod/v4';
import { checkOptions, milliseconds } from '../options';
import { Run } from './run';
import { registerRunScope, runScoped } from './run-scope';
import { showOnly } from './show-only';

/** What a run is started with; everything is optional. */
export interface RunOptions {
  /** The run's id. Default: a random UUID. */
  readonly id?: string | undefined;
  /** The user on whose behalf the run acts. */
  readonly actorId?: string | undefined;
  /** What else the application wants its tools and callbacks to know. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** Cancels the run when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** When the run must be over. With `timeout` too, the earlier of the two holds. */
  readonly deadline?: Date | undefined;
  /** Milliseconds from now until the run must be over. */
  readonly timeout?: number | undefined;
  /** Parent of the run's container. Default: the container that resolved the factory. */
  readonly container?: DependencyContainer | undefined;
}

const runOptions = z.strictObject({
  id: z.string().min(1).optional(),
  actorId: z.string().optional(),
  context: z.custom<Record<string, unknown>>((value) => typeof value === 'object' && value !== null).optional(),
  signal: z
    .custom<AbortSignal>((value) => typeof value === 'object' && value !== null && 'aborted' in value, {
      error: 'expected an AbortSignal',
    })
    .optional(),
  deadline: z.date({ error: 'expected a valid Date' }).optional(),
  timeout: milliseconds.optional(),
  container: z
    .custom<DependencyContainer>(
      (value) => typeof value === 'object' && value !== null && 'createChildContainer' in value,
      { error: 'expected a tsyringe container' },
    )
    .optional(),
});

/** Starts runs. Injectable as it is. */
export class RunFactory {
  constructor(private readonly container: DependencyContainer = rootContainer) {
    showOnly(this, []);
  }

  /**
   * Starts a run, which the caller closes (`await using`, or `close()`).
   * @throws ConfigurationError for an unknown option or a value of the wrong type
   */
  start(options: RunOptions = {}): Run {
    checkOptions(runOptions, options, { where: 'RunFactory#start' });
    const container = (options.container ?? this.container).createChildContainer();
    const runId = options.id ?? randomUUID();
    const run = new Run({
      container,
      invocation: Object.freeze({ runId, actorId: options.actorId, context: options.context ?? {} }),
      deadline: earliest(options.deadline, options.timeout),
      signal: options.signal,
    });
    run.register({ close: registerRunScope(run, container) });
    return run;
  }
}

function earliest(deadline: Date | undefined, timeout: number | undefined): Date | undefined {
  if (timeout === undefined) return deadline && new Date(deadline);
  const end = Math.min(Date.now() + timeout, deadline?.getTime() ?? Infinity, LATEST_DATE);
  return new Date(end);
}

/** The last moment that a Date can hold, in milliseconds since the epoch (ECMAScript, Time Values and Time Range). */
const LATEST_DATE = 8.64e15;

rootContainer.register(RunFactory, { useFactory: (resolving) => new RunFactory(resolving) });
runScoped(Run, (run) => run);
