import type { MediaKind } from './media-format';

/** Text that a model is shown; never blank. */
export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
}

/** A medium that a model is shown, whose bytes are what its media type says. */
export interface MediaPart {
  readonly kind: MediaKind;
  readonly mediaType: string;
  /** The bytes, in base64 (RFC 4648, section 4). */
  readonly base64: string;
  /** A name to show, without control characters; there always is one. */
  readonly name: string;
}

/** One part of a result. */
export type PresentedPart = TextPart | MediaPart;

/** The result of a call as a provider may be given it: at least one part, and each of them valid. */
export interface PresentedResult {
  readonly isError: boolean;
  readonly parts: readonly PresentedPart[];
}

/** The text of a result and nothing else, for providers that take no more. Never blank where all parts are text. */
export function textOf(parts: readonly PresentedPart[]): string {
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n');
}

/** The parts of a result for a provider that has no mark for failure: the first text says it. */
export function partsThatSayFailure({ isError, parts }: PresentedResult): readonly PresentedPart[] {
  if (!isError) return parts;
  const [first, ...others] = parts;
  if (first?.kind === 'text') return [{ kind: 'text', text: `Error: ${first.text}` }, ...others];
  return [{ kind: 'text', text: 'Error: the call failed.' }, ...parts];
}

/** Collects the parts of a result; texts that follow each other become one. */
export class PartList {
  private readonly list: PresentedPart[] = [];

  get parts(): readonly PresentedPart[] {
    return this.list;
  }

  add(part: PresentedPart): void {
    const last = this.list.at(-1);
    if (part.kind === 'text' && last?.kind === 'text') {
      this.list[this.list.length - 1] = { kind: 'text', text: `${last.text}\n${part.text}` };
    } else {
      this.list.push(part);
    }
  }

  addText(text: string): void {
    this.add({ kind: 'text', text });
  }
}
