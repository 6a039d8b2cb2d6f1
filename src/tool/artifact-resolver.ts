import type { Run } from '../run/run';
import type { DeferredArtifact } from './artifact';
import type { ToolBinding } from './tool-binding';

/** What an `ArtifactResolver` is told besides the artifact. */
export interface ArtifactResolverContext {
  /** The run whose result is presented, if there is one. */
  readonly run: Run | undefined;
  readonly binding: ToolBinding;
  /** More bytes than these are not shown to a model. */
  readonly maxBytes: number;
  /** Aborts when the run or the turn is cancelled, the run's deadline passes, or resolving has taken too long. */
  readonly signal: AbortSignal;
}

/**
 * Turns a deferred artifact into its bytes when an adapter presents it to a model. This one knows none; an application
 * registers a subclass: `container.register(ArtifactResolver, { useClass: FromBucket })`.
 */
export class ArtifactResolver {
  /**
   * The bytes of an artifact, or undefined where there are none for this run; sync or async. What it throws, what is no
   * bytes, too many of them, or later than the container's `timeout` becomes a note to the model and a warning.
   */
  resolve(
    _artifact: DeferredArtifact,
    _context: ArtifactResolverContext,
  ): Uint8Array | undefined | PromiseLike<Uint8Array | undefined> {
    return undefined;
  }
}
