import { z } from 'zod/v4';
import { callable, checkOptions, count, defined } from '../../options';
import type { OnExecution } from './executed';

/** Bounds on what a model is shown of the results of one turn; what is over them becomes a note. */
export interface PresentationLimits {
  /** Characters (UTF-16 code units) of text in one result, before it is cut. Default 100,000. */
  readonly maxTextLength: number;
  /** Artifacts of one turn. Default 20. */
  readonly maxArtifacts: number;
  /** Bytes of one artifact, before base64. Default: what the provider takes of its kind. */
  readonly maxArtifactBytes: number | undefined;
  /** Bytes of all artifacts of one turn, before base64. Default 16 MiB. */
  readonly maxTurnBytes: number;
}

/** What every adapter's functions take. */
export interface PresentationOptions {
  /** Cancels the calls of this turn, not the run. */
  readonly signal?: AbortSignal | undefined;
  /** How much of the results a model is shown. */
  readonly limits?:
    { readonly [Limit in keyof PresentationLimits]?: PresentationLimits[Limit] | undefined } | undefined;
  /**
   * Is told of each call that is answered, failed ones included, with all that the model is not shown: the value, the
   * artifacts, the whole text. The model is answered when it has returned; what it throws is logged as an error, and
   * changes nothing else. A call that the end of run or turn cuts short has no execution.
   */
  readonly onExecution?: OnExecution | undefined;
}

const DEFAULTS: PresentationLimits = {
  maxTextLength: 100_000,
  maxArtifacts: 20,
  maxArtifactBytes: undefined,
  maxTurnBytes: 16 * 1024 * 1024,
};

/** The options that every adapter's functions have, for `checkOptions`. */
export const presentationOptions = {
  signal: z
    .custom<AbortSignal>((value) => typeof (value as AbortSignal | null)?.addEventListener === 'function', {
      error: 'expected an AbortSignal',
    })
    .optional(),
  limits: z
    .strictObject({
      maxTextLength: count.optional(),
      maxArtifacts: count.optional(),
      maxArtifactBytes: count.optional(),
      maxTurnBytes: count.optional(),
    })
    .optional(),
  onExecution: z
    .custom<OnExecution>((value) => callable.safeParse(value).success, { error: 'expected a function' })
    .optional(),
};

const schema = z.strictObject(presentationOptions);

/**
 * Checks the options that an adapter's function was given, where it has no others.
 * @throws ConfigurationError for an unknown option or a value of the wrong type
 */
export function checkPresentationOptions(options: PresentationOptions, where: string): void {
  checkOptions(schema, options, { where });
}

/** The limits in force. */
export function limitsOf({ limits }: PresentationOptions): PresentationLimits {
  return { ...DEFAULTS, ...(defined(limits) as Partial<PresentationLimits>) };
}
