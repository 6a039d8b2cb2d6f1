import type { Limits } from '../settings';
import { ToolResult } from '../tool/tool-result';
import type { McpCallResult } from '../toolset/callbacks';
import { MediaCollector } from './media';
import { wellFormed } from './well-formed';

/** The blocks of a result, sorted by how they are shown. */
interface Blocks {
  readonly texts: string[];
  readonly embedded: string[];
  /** Sentences that stand for blocks which cannot be shown in a text. */
  readonly notes: string[];
  readonly links: string[];
  /** Blocks that are not media, as they came, and sentences for what was left out. */
  readonly visible: unknown[];
  readonly media: MediaCollector;
}

/** The default value of a result and its artifacts (MCP specification, Tools, tool result). */
export function defaultResult(result: McpCallResult, limits: Limits): ToolResult {
  const content = Array.isArray(result.content) ? (result.content as readonly unknown[]) : [];
  const blocks: Blocks = {
    texts: [],
    embedded: [],
    notes: [],
    links: [],
    visible: [],
    media: new MediaCollector(limits),
  };
  for (const block of content) sort(block, blocks);
  const value = wellFormed(valueOf(result, blocks, content.length));
  return new ToolResult({ value, artifacts: blocks.media.collected().artifacts });
}

/** The text of a result, as far as it has any. */
export function textOf(result: McpCallResult): string {
  const content = Array.isArray(result.content) ? (result.content as readonly unknown[]) : [];
  const texts = content.filter((block) => isObject(block) && block.type === 'text' && typeof block.text === 'string');
  return texts
    .map((block) => (block as { text: string }).text)
    .join('\n')
    .toWellFormed();
}

function valueOf(result: McpCallResult, blocks: Blocks, count: number): unknown {
  const structured = result.structuredContent;
  const isStructured = structured !== undefined && (structured !== null || count === 0);
  const text = blocks.texts.length + blocks.embedded.length > 0;
  if (isStructured && !(result.isError === true && text)) return structured;
  if (text) return [...blocks.texts, ...blocks.embedded, ...blocks.links, ...blocks.notes].join('\n');
  if (blocks.visible.length > 0) return blocks.visible;
  const { artifacts, summary } = blocks.media.collected();
  return artifacts.length > 0 ? summary : '';
}

function sort(block: unknown, blocks: Blocks): void {
  if (!isObject(block)) return addUnknown(block, 'a content block that is no object', blocks);
  const { type } = block;
  if (type === 'text' && typeof block.text === 'string') {
    blocks.texts.push(block.text);
    blocks.visible.push(block);
  } else if (type === 'image' || type === 'audio') {
    addMedia({ kind: type, data: block.data, mediaType: block.mimeType }, blocks);
  } else if (type === 'resource' && isObject(block.resource)) {
    sortResource(block, block.resource, blocks);
  } else if (type === 'resource_link' && typeof block.uri === 'string') {
    blocks.links.push(linkLine(block));
    blocks.visible.push(block);
  } else {
    addUnknown(block, `a content block of the type ${JSON.stringify(type)?.slice(0, 80) ?? 'undefined'}`, blocks);
  }
}

function sortResource(block: unknown, resource: Readonly<Record<string, unknown>>, blocks: Blocks): void {
  if (typeof resource.text === 'string') {
    blocks.embedded.push(resource.text);
    blocks.visible.push(block);
  } else if ('blob' in resource) {
    const uri = typeof resource.uri === 'string' ? resource.uri : undefined;
    addMedia({ kind: 'file', data: resource.blob, mediaType: resource.mimeType, uri }, blocks);
  } else {
    addUnknown(block, 'a resource without text or blob', blocks);
  }
}

function addMedia(media: Parameters<MediaCollector['add']>[0], blocks: Blocks): void {
  const note = blocks.media.add(media);
  if (note === undefined) return;
  blocks.notes.push(note);
  blocks.visible.push({ type: 'text', text: note });
}

function addUnknown(block: unknown, what: string, blocks: Blocks): void {
  blocks.notes.push(`[not shown: ${what}]`);
  blocks.visible.push(block);
}

function linkLine(link: Readonly<Record<string, unknown>>): string {
  const { uri, name, title, description } = link;
  const label = [title, name].find((text): text is string => typeof text === 'string' && text !== '');
  const rest = typeof description === 'string' && description !== '' ? ` (${description})` : '';
  return `${label === undefined ? '' : `${label}: `}${String(uri)}${rest}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
