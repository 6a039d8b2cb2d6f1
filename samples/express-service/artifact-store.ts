import { randomUUID } from 'node:crypto';
import { injectable } from 'tsyringe';
import {
  Artifact,
  ArtifactResolver,
  ToolResult,
  type AnyArtifact,
  type ArtifactResolverContext,
  type DeferredArtifact,
  type McpToolClass,
  type ToolBinding,
  type ToolCallContext,
} from 'mcp-toolset';
import { Steps } from './steps';

/** Bytes that a tool produced for a user. */
export interface StoredArtifact {
  readonly owner: string | undefined;
  readonly data: Uint8Array;
  readonly mediaType: string;
  readonly name: string;
}

/**
 * Keeps what tools produce: the user fetches it by its URL, and the adapter by its reference when a model is to see it.
 * This one keeps it in memory, the newest 200; a real service has a bucket.
 */
@injectable()
export class ArtifactStore extends ArtifactResolver {
  private readonly stored = new Map<string, StoredArtifact>();

  /** Keeps an artifact for a user; returns the id that is in its URL. */
  keep(artifact: StoredArtifact): string {
    const id = randomUUID();
    this.stored.set(id, artifact);
    const [oldest] = this.stored.keys();
    if (this.stored.size > 200 && oldest !== undefined) this.stored.delete(oldest);
    return id;
  }

  /** An artifact of a user; those of others do not exist for them. */
  find(owner: string | undefined, id: unknown): StoredArtifact | undefined {
    const found = this.stored.get(id as string);
    return found?.owner === owner ? found : undefined;
  }

  override resolve({ reference }: DeferredArtifact, { run }: ArtifactResolverContext): Uint8Array | undefined {
    return this.find(run?.invocation.actorId, reference)?.data;
  }
}

/** The tool, with its artifacts moved into the store: what goes on with the result are references. */
export function keepingArtifacts(tool: McpToolClass): McpToolClass {
  return class extends tool {
    override async call(input: Record<string, unknown>, context: ToolCallContext): Promise<ToolResult> {
      const { value, artifacts } = ToolResult.of(await super.call(input, context));
      return new ToolResult({ value, artifacts: artifacts.map((artifact) => moved(artifact, context)) });
    }
  };
}

function moved(artifact: AnyArtifact, { binding, callId = '' }: ToolCallContext): AnyArtifact {
  if (artifact.kind === 'deferred') return artifact;
  const { data, mediaType, name = `file.${mediaType.split('/')[1] ?? 'bin'}` } = artifact;
  const id = binding.container.resolve(ArtifactStore).keep({ owner: ownerOf(binding), data, mediaType, name });
  binding.container.resolve(Steps).send({ type: 'artifact', callId, url: `/artifacts/${id}`, mediaType, name });
  return Artifact.deferred({ reference: id, mediaType, name });
}

function ownerOf({ run }: ToolBinding): string | undefined {
  return run?.invocation.actorId;
}
