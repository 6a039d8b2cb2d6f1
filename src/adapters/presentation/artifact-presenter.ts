import type { AnyArtifact } from '../../tool/artifact';
import type { ToolBinding } from '../../tool/tool-binding';
import { artifactBytes, type ArtifactBytes } from './artifact-bytes';
import type { PresentationLimits } from './limits';
import { formatFault, formatOf, usualMediaType } from './media-format';
import type { MediaPart, PartList } from './presented-result';
import { ruleFor, type ProviderMedia } from './provider-media';
import { abbreviated, cutText, shown } from './text';

/** An artifact and what became of its bytes. */
export interface FetchedArtifact {
  readonly artifact: AnyArtifact;
  readonly bytes: ArtifactBytes;
}

/** By what an `ArtifactPresenter` goes. */
interface PresenterParts {
  readonly binding: ToolBinding;
  readonly media: ProviderMedia;
  readonly limits: PresentationLimits;
}

/** For which call an artifact is fetched. */
interface FetchFor {
  /** The name of the tool. */
  readonly tool: string;
  readonly isFailure: boolean;
  readonly signal: AbortSignal | undefined;
}

const LONGEST_NAME = 120;
const LONGEST_TYPE = 80;
/** Bytes of an artifact whose kind no provider bounds. */
const MAX_BYTES = 16 * 1024 * 1024;
/** What says nothing of its bytes. */
const UNKNOWN_TYPE = 'application/octet-stream';
const TEXT = /^text\/|[/+](json|xml|yaml|x-yaml|toml|javascript|x-ndjson|jsonl|sql)$/;

/** Turns the artifacts of one turn into parts or notes, within the turn's limit of bytes. */
export class ArtifactPresenter {
  private bytesLeft: number;

  constructor(private readonly means: PresenterParts) {
    this.bytesLeft = means.limits.maxTurnBytes;
  }

  /**
   * The bytes of an artifact, if it can be shown at all.
   * @throws CancelledError or DeadlineExceededError
   */
  async fetch(artifact: AnyArtifact, { tool, isFailure, signal }: FetchFor): Promise<FetchedArtifact> {
    const { binding, limits } = this.means;
    const fault = this.refusal(usualMediaType(artifact.mediaType), isFailure);
    if (fault !== undefined) return { artifact, bytes: { fault } };
    const maxBytes = Math.min(this.maxBytes(usualMediaType(artifact.mediaType)), limits.maxTurnBytes);
    return {
      artifact,
      bytes: await artifactBytes(artifact, { what: `${label(artifact)} of ${tool}`, binding, maxBytes, signal }),
    };
  }

  /** Adds an artifact to the parts, with at most `room` characters of text; returns how many it took. */
  add({ artifact, bytes }: FetchedArtifact, parts: PartList, room: number): number {
    const shownPart = Buffer.isBuffer(bytes) ? this.present(artifact, bytes) : bytes;
    if (typeof shownPart === 'string') {
      const whole = `The application has the whole as ${label(artifact)}.`;
      parts.addText(`${label(artifact)}:\n${cutText(shownPart, room, whole)}`);
      return Math.min(room, shownPart.length);
    }
    if ('fault' in shownPart)
      parts.addText(`[Not shown: ${label(artifact)}: ${sentence(shownPart.fault)} The application has it.]`);
    else parts.add(shownPart);
    return 0;
  }

  /** Why an artifact cannot be shown whatever its bytes are. */
  private refusal(mediaType: string, isFailure: boolean): string | undefined {
    if (TEXT.test(mediaType)) return undefined;
    const { media } = this.means;
    if (isFailure && media.failuresAreText) return 'with a failed call goes nothing but text';
    if (mediaType === UNKNOWN_TYPE || ruleFor(media, mediaType)) return undefined;
    return 'the model cannot be given this media type';
  }

  private maxBytes(mediaType: string): number {
    return this.means.limits.maxArtifactBytes ?? ruleFor(this.means.media, mediaType)?.maxBytes ?? MAX_BYTES;
  }

  private present(artifact: AnyArtifact, bytes: Buffer): MediaPart | string | { readonly fault: string } {
    const claimed = usualMediaType(artifact.mediaType);
    if (TEXT.test(claimed)) return decoded(bytes) ?? { fault: 'it is no UTF-8 text' };
    const format = formatOf(bytes);
    const rule = format && ruleFor(this.means.media, format.mediaType);
    if (!format || (claimed !== UNKNOWN_TYPE && claimed !== format.mediaType)) {
      return { fault: `its bytes are ${format ? format.mediaType : 'something else'}` };
    }
    if (!rule) return { fault: `its bytes are ${format.mediaType}, which the model cannot be given` };
    const fault =
      formatFault(format, bytes, rule.maxSide ?? Infinity) ?? this.excess(bytes, this.maxBytes(format.mediaType));
    if (fault !== undefined) return { fault };
    this.bytesLeft -= bytes.byteLength;
    const name = nameOf(artifact) ?? `${format.kind}.${format.mediaType.split('/')[1] ?? 'bin'}`;
    return { kind: format.kind, mediaType: format.mediaType, base64: bytes.toString('base64'), name };
  }

  private excess({ byteLength }: Buffer, max: number): string | undefined {
    if (byteLength > max) return `its ${shown(byteLength)} bytes are more than the ${shown(max)} that are allowed`;
    if (byteLength <= this.bytesLeft) return undefined;
    return `with it the turn would have more than ${shown(this.means.limits.maxTurnBytes)} bytes of artifacts`;
  }
}

function decoded(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** With a full stop, unless an application's words have an end of their own. */
function sentence(fault: string): string {
  const text = fault.trimEnd();
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** An artifact as the notes name it; both of its words may be a server's. */
function label(artifact: AnyArtifact): string {
  const mediaType = abbreviated(visible(artifact.mediaType), LONGEST_TYPE);
  return `${JSON.stringify(nameOf(artifact) ?? 'artifact')} (${mediaType})`;
}

function nameOf({ name }: AnyArtifact): string | undefined {
  const shownName = typeof name === 'string' ? abbreviated(visible(name), LONGEST_NAME).trim() : '';
  return shownName === '' ? undefined : shownName;
}

/** A text without what cannot be seen. */
function visible(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '');
}
