import type { Limits } from '../settings';
import type { AnyArtifact } from '../tool/artifact';
import type { McpCallResult } from '../toolset/callbacks';
import { MediaCollector } from './media';
import { wellFormed } from './well-formed';

const LONGEST_TYPE = 80;
const MOST_SENTENCES = 10;

/** What a result is by default. */
export interface DefaultResult {
  readonly value: unknown;
  readonly artifacts: readonly AnyArtifact[];
  /** The text that came, links included; empty where there is none. */
  readonly text: string;
  /** Sentences for the media that were left out, where the value has no place for them. */
  readonly unshown: readonly string[];
}

/** The blocks of a result, sorted by how they are shown. */
interface Blocks {
  readonly texts: string[];
  readonly embedded: string[];
  readonly links: string[];
  /** Sentences that stand for blocks which cannot be shown in a text. */
  readonly notes: string[];
  /** Blocks without a text of their own that are no media, as they came. */
  readonly visible: unknown[];
  /** Sentences that stand for media that were left out. */
  readonly omitted: string[];
  readonly media: MediaCollector;
}

/** The default value of a result and its artifacts (MCP specification, Tools, tool result). */
export function defaultResult(result: McpCallResult, limits: Limits): DefaultResult {
  const content = blocksOf(result);
  const media = new MediaCollector(limits);
  const blocks: Blocks = { texts: [], embedded: [], links: [], notes: [], visible: [], omitted: [], media };
  for (const block of content) sort(block, blocks);
  const text = textOf(blocks);
  const structured = result.structuredContent;
  const isStructured = structured !== undefined && (structured !== null || content.length === 0);
  const showsStructured = isStructured && !(result.isError === true && text !== '');
  return {
    value: wellFormed(showsStructured ? structured : valueOf(blocks, text)),
    artifacts: media.collected().artifacts,
    text: text.toWellFormed(),
    unshown: showsStructured ? firstOf(blocks.omitted) : [],
  };
}

/** A server can have any number of media left out, and each sentence is a warning. */
function firstOf(sentences: readonly string[]): readonly string[] {
  const more = sentences.length - MOST_SENTENCES;
  return more > 0 ? [...sentences.slice(0, MOST_SENTENCES), `[and ${more} more left out]`] : sentences;
}

/** The content blocks; what is neither an array nor missing is taken for the only one. */
function blocksOf({ content }: { readonly content?: unknown }): readonly unknown[] {
  if (Array.isArray(content)) return content;
  return content === undefined || content === null ? [] : [content];
}

function textOf({ texts, embedded, links }: Blocks): string {
  const said = [...texts, ...embedded];
  return said.some((text) => text !== '') ? [...said, ...links].join('\n') : '';
}

function valueOf({ notes, visible, omitted, media }: Blocks, text: string): unknown {
  if (text !== '') return [text, ...notes].join('\n');
  if (visible.length > 0) return [...visible, ...omitted.map((note) => ({ type: 'text', text: note }))];
  const { artifacts, summary } = media.collected();
  if (omitted.length > 0) return { ...summary, omitted };
  return artifacts.length > 0 ? summary : '';
}

function sort(block: unknown, blocks: Blocks): void {
  if (!isObject(block)) return addUnknown(block, 'a content block that is no object', blocks);
  const { type } = block;
  if (type === 'text' && typeof block.text === 'string') {
    blocks.texts.push(block.text);
  } else if (type === 'image' || type === 'audio') {
    addMedia({ kind: type, data: block.data, mediaType: block.mimeType }, blocks);
  } else if (type === 'resource' && isObject(block.resource)) {
    sortResource(block, block.resource, blocks);
  } else if (type === 'resource_link' && typeof block.uri === 'string') {
    blocks.links.push(linkLine(block));
    blocks.visible.push(block);
  } else {
    const named = typeof type === 'string' ? `the type ${JSON.stringify(type.slice(0, LONGEST_TYPE))}` : 'no type';
    addUnknown(block, `a content block of ${named}`, blocks);
  }
}

function sortResource(block: unknown, resource: Readonly<Record<string, unknown>>, blocks: Blocks): void {
  const { text, blob, mimeType } = resource;
  const uri = typeof resource.uri === 'string' ? resource.uri : undefined;
  if (typeof text === 'string') blocks.embedded.push(text);
  if (blob !== undefined) addMedia({ kind: 'file', data: blob, mediaType: mimeType, uri }, blocks);
  if (typeof text !== 'string' && blob === undefined) addUnknown(block, 'a resource without text or blob', blocks);
}

function addMedia(media: Parameters<MediaCollector['add']>[0], blocks: Blocks): void {
  const note = blocks.media.add(media);
  if (note === undefined) return;
  blocks.notes.push(note);
  blocks.omitted.push(note);
}

function addUnknown(block: unknown, what: string, blocks: Blocks): void {
  blocks.notes.push(`[not shown: ${what}]`);
  blocks.visible.push(block);
}

function linkLine(link: Readonly<Record<string, unknown>>): string {
  const { uri, name, title, description } = link;
  const label = [title, name].find((text): text is string => typeof text === 'string' && text !== '');
  const rest = typeof description === 'string' && description !== '' ? ` (${description})` : '';
  return `${label === undefined ? '' : `${label}: `}${String(uri)}${rest}`.replace(/\s+/g, ' ');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
