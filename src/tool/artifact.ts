import { ConfigurationError } from '../errors';

interface ArtifactDescription {
  /** Media type of the bytes, such as `image/png`. */
  readonly mediaType: string;
  /** A file name or title. */
  readonly name?: string | undefined;
  /** Whatever else belongs to it. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** An artifact that holds its bytes. */
export type InlineArtifact = Artifact & { readonly kind: 'inline'; readonly data: Uint8Array };

/** An artifact of either kind; `kind` tells which. */
export type AnyArtifact = InlineArtifact | DeferredArtifact;

/** An artifact whose bytes are fetched later, by its reference. */
export type DeferredArtifact = Artifact & { readonly kind: 'deferred' };

/** Bytes, or a reference to bytes, that a tool produced and that stay out of the text that the model sees. */
export class Artifact {
  readonly kind: 'inline' | 'deferred';
  readonly mediaType: string;
  readonly name: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The bytes of an inline artifact. */
  readonly data: Uint8Array | undefined;
  /** What a deferred artifact is fetched by. */
  readonly reference: unknown;

  private constructor(
    source: { readonly data: Uint8Array } | { readonly reference: unknown },
    { mediaType, name, metadata }: ArtifactDescription,
  ) {
    if (typeof mediaType !== 'string' || mediaType === '') {
      throw new ConfigurationError('Artifact: expected "mediaType" to be a non-empty string, such as image/png.');
    }
    this.kind = 'data' in source ? 'inline' : 'deferred';
    this.data = 'data' in source ? source.data : undefined;
    this.reference = 'reference' in source ? source.reference : undefined;
    this.mediaType = mediaType;
    this.name = name;
    this.metadata = Object.freeze({ ...metadata });
    Object.freeze(this);
  }

  /** What a log or a failing test shows of it, and `JSON.stringify`: how many bytes there are, in place of the bytes. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { kind, mediaType, name, metadata, data, reference } = this;
    return { kind, mediaType, name, metadata, ...(data ? { bytes: data.byteLength } : { reference }) };
  }

  /**
   * An artifact that holds its bytes.
   * @throws ConfigurationError when `data` is no Uint8Array or `mediaType` is empty
   */
  static inline(options: ArtifactDescription & { readonly data: Uint8Array }): InlineArtifact {
    if (!ArrayBuffer.isView(options.data)) {
      throw new ConfigurationError('Artifact.inline: expected "data" to be a Uint8Array (a Buffer is one).');
    }
    return new Artifact({ data: options.data }, options) as InlineArtifact;
  }

  /**
   * An artifact that the application fetches when it is needed, by `reference`.
   * @throws ConfigurationError when `reference` is missing or `mediaType` is empty
   */
  static deferred(options: ArtifactDescription & { readonly reference: unknown }): DeferredArtifact {
    if (options.reference === undefined || options.reference === null) {
      throw new ConfigurationError('Artifact.deferred: expected a "reference" by which the bytes can be fetched.');
    }
    return new Artifact({ reference: options.reference }, options) as DeferredArtifact;
  }
}
