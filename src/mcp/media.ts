import type { Limits } from '../settings';
import { Artifact, type AnyArtifact } from '../tool/artifact';
import { base64Length } from './base64';

type MediaKind = 'image' | 'audio' | 'file';

/** A block of a result whose bytes are to be kept out of the model's text. */
export interface MediaBlock {
  readonly kind: MediaKind;
  readonly data: unknown;
  readonly mediaType: unknown;
  readonly uri?: string | undefined;
}

/** What became of the media of one result. */
export interface CollectedMedia {
  readonly artifacts: readonly AnyArtifact[];
  /** Describes the artifacts: their media type, name and number of bytes, by kind. */
  readonly summary: Readonly<Record<string, unknown>>;
}

const UNKNOWN_TYPE = 'application/octet-stream';
const PLURALS = { image: 'images', audio: 'audio', file: 'files' } as const;

/** Turns the media of one result into artifacts, within the limits. */
export class MediaCollector {
  private readonly artifacts: AnyArtifact[] = [];
  private readonly summary: Record<string, unknown[]> = {};
  private blocks = 0;
  private bytes = 0;

  constructor(private readonly limits: Limits) {}

  /** Takes a block in; where that cannot be done, returns the sentence that stands for it. */
  add(block: MediaBlock): string | undefined {
    const fault = this.faultOf(block);
    if (fault !== undefined) return `[${block.kind} left out: ${fault}]`;
    const data = new Uint8Array(Buffer.from(block.data as string, 'base64'));
    const { kind } = block;
    const entries = (this.summary[PLURALS[kind]] ??= []);
    const name = fileName(block.uri) ?? `${kind}-${entries.length + 1}`;
    const mediaType = typeof block.mediaType === 'string' && block.mediaType !== '' ? block.mediaType : UNKNOWN_TYPE;
    const metadata = block.uri === undefined ? undefined : { uri: block.uri };
    this.artifacts.push(Artifact.inline({ data, mediaType, name, metadata }));
    entries.push({ mediaType, name, bytes: data.byteLength });
    return undefined;
  }

  collected(): CollectedMedia {
    return { artifacts: this.artifacts, summary: this.summary };
  }

  private faultOf({ data }: MediaBlock): string | undefined {
    const { maxMediaBlocks, maxMediaBytes, maxTotalMediaBytes } = this.limits;
    const bytes = typeof data === 'string' ? base64Length(data) : undefined;
    if (bytes === undefined) return 'its data is not base64';
    if (this.blocks >= maxMediaBlocks) return `the result has more than ${maxMediaBlocks} (limit maxMediaBlocks)`;
    if (bytes > maxMediaBytes) return `its ${bytes} bytes are more than ${maxMediaBytes} (limit maxMediaBytes)`;
    if (this.bytes + bytes > maxTotalMediaBytes) {
      return `with its ${bytes} bytes the result has more than ${maxTotalMediaBytes} (limit maxTotalMediaBytes)`;
    }
    this.blocks += 1;
    this.bytes += bytes;
    return undefined;
  }
}

/** The last part of a URI that can be a file name: no folder, nothing invisible, and not the data of a `data:` URI. */
function fileName(uri: string | undefined): string | undefined {
  if (uri === undefined || /^data:/i.test(uri)) return undefined;
  const path = decoded(uri.replace(/^[a-z][a-z0-9+.-]*:/i, '').replace(/[?#].*$/s, ''));
  const parts = path.split(/[/\\]/).map((part) => part.replace(/\p{Cc}/gu, '').toWellFormed());
  return parts.findLast((part) => !/^\.*$/.test(part));
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
