import { messageOf, ToolError } from '../../errors';
import { LONGEST_TIMER } from '../../options';
import { Interruption, untilAborted } from '../../run/abort';
import { interruption } from '../../run/interruption';
import { settingsOf } from '../../settings';
import type { AnyArtifact, DeferredArtifact } from '../../tool/artifact';
import { ArtifactResolver } from '../../tool/artifact-resolver';
import type { ToolBinding } from '../../tool/tool-binding';
import { shown } from './text';

/** The bytes of an artifact, or why there are none to show. */
export type ArtifactBytes = Buffer | { readonly fault: string };

/** For whom an artifact is fetched, and how much of it may be shown. */
export interface ArtifactRequest {
  /** The artifact and its tool, as the log names them. */
  readonly what: string;
  readonly binding: ToolBinding;
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * The bytes of an artifact, a deferred one's from the application's `ArtifactResolver`.
 * @throws CancelledError or DeadlineExceededError where run or turn end meanwhile
 */
export async function artifactBytes(artifact: AnyArtifact, request: ArtifactRequest): Promise<ArtifactBytes> {
  const found: unknown = artifact.kind === 'inline' ? artifact.data : await resolved(artifact, request);
  if (isFault(found)) return found;
  if (found === undefined || found === null) return { fault: 'its bytes are not available here' };
  if (!ArrayBuffer.isView(found)) return { fault: 'its bytes could not be fetched' };
  const { byteLength, byteOffset } = found;
  if (byteLength === 0) return { fault: 'it is empty' };
  if (byteLength > request.maxBytes) {
    return { fault: `its ${shown(byteLength)} bytes are more than the ${shown(request.maxBytes)} that are allowed` };
  }
  return Buffer.from(found.buffer, byteOffset, byteLength);
}

function isFault(value: unknown): value is { readonly fault: string } {
  return faults.has(value as object);
}

// By identity: a resolver may return anything.
const faults = new WeakSet<object>();

function faultOf(fault: string): object {
  const made = { fault };
  faults.add(made);
  return made;
}

async function resolved(artifact: DeferredArtifact, request: ArtifactRequest): Promise<unknown> {
  const { what, binding, maxBytes } = request;
  const { run, container } = binding;
  const { timeout, logger } = settingsOf(container);
  const ending = interruption(run, request.signal);
  const fetching = new Interruption([ending]);
  const tooLate = new ToolError(`it took longer than ${shown(timeout)} ms`);
  const timer = setTimeout(() => fetching.end(tooLate), Math.min(timeout, LONGEST_TIMER));
  const resolve = async (): Promise<unknown> =>
    container.resolve(ArtifactResolver).resolve(artifact, { run, binding, maxBytes, signal: fetching.signal });
  try {
    fetching.throwIfAborted();
    const found = await untilAborted(resolve(), fetching);
    if (found !== undefined && found !== null && !ArrayBuffer.isView(found)) {
      logger.warn(
        `ArtifactResolver#resolve returned a value of type ${typeof found} for ${what}; expected a Uint8Array.`,
      );
    }
    return found;
  } catch (error) {
    ending.throwIfAborted();
    logger.warn(`ArtifactResolver#resolve failed for ${what}: ${messageOf(error)}`, error);
    return faultOf(`its bytes could not be fetched${ToolError.is(error) ? `: ${error.message}` : ''}`);
  } finally {
    clearTimeout(timer);
    fetching.release();
    ending.release();
  }
}
