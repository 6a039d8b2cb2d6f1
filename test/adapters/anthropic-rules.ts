import { magicOf } from './media-bytes';
import { isBase64, isObject, NAME, schemaFaults, type Json } from './schema-rules';
import type { ApiRequest } from './scripted-api';

/** What the Messages API refuses, as its documentation and its answers say. */
export function anthropicFaults({ path, headers, body }: ApiRequest): string[] {
  const faults: string[] = [];
  if (path.split('?')[0] !== '/v1/messages') faults.push(`no such path: ${path}`);
  if (headers['anthropic-version'] === undefined || headers.authorization === undefined)
    faults.push('headers are missing');
  if (typeof body.model !== 'string' || !(Number(body.max_tokens) >= 1)) faults.push('model or max_tokens is missing');
  const tools = (body.tools ?? []) as Json[];
  faults.push(...tools.flatMap((tool, index) => toolFaults(tool).map((fault) => `tools.${index}.custom: ${fault}`)));
  if (new Set(tools.map(({ name }) => name)).size < tools.length) faults.push('tools: Tool names must be unique.');
  return [...faults, ...messageFaults(body.messages)];
}

function toolFaults({ name, description, input_schema, ...others }: Json): string[] {
  const faults = schemaFaults(input_schema).map((fault) => `input_schema: ${fault}`);
  if (typeof name !== 'string' || !NAME.test(name)) faults.push(`name ${String(name)} does not match`);
  if (typeof description !== 'string' || description.trim() === '') faults.push('description is empty');
  const keys = Object.keys(Object((input_schema as Json).properties) as object);
  if (!keys.every((key) => /^[a-zA-Z0-9_.-]{1,64}$/.test(key))) faults.push('Property keys should match pattern');
  const unknown = Object.keys(others).filter((key) => !['type', 'cache_control', 'strict'].includes(key));
  return [...faults, ...unknown.map((key) => `${key}: Extra inputs are not permitted`)];
}

function messageFaults(messages: unknown): string[] {
  if (!Array.isArray(messages) || messages.length === 0) return ['messages: at least one message is required'];
  const faults: string[] = [];
  if ((messages[0] as Json).role !== 'user') faults.push('messages: first message must use the "user" role');
  for (const [index, message] of (messages as Json[]).entries()) {
    const blocks = blocksOf(message);
    if (blocks.length === 0) faults.push(`messages.${index}: content is empty`);
    faults.push(...blocks.flatMap((block) => blockFaults(block)).map((fault) => `messages.${index}.${fault}`));
    const uses = ids(blocks, 'tool_use', 'id');
    const next = blocksOf(messages[index + 1] as Json | undefined);
    const results = ids(next, 'tool_result', 'tool_use_id');
    if (uses.length > 0 && JSON.stringify([...results].sort()) !== JSON.stringify([...uses].sort())) {
      faults.push(`messages.${index}: each tool_use must have one tool_result in the next message`);
    }
    if (uses.length === 0 && results.length > 0) faults.push(`messages.${index + 1}: unexpected tool_use_id`);
    if (next.findLastIndex(({ type }) => type === 'tool_result') >= results.length)
      faults.push('tool_result must come first');
  }
  return faults;
}

function blocksOf(message: Json | undefined): Json[] {
  const content = message?.content;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : ((content ?? []) as Json[]);
}

function ids(blocks: readonly Json[], type: string, key: string): unknown[] {
  return blocks.filter((block) => block.type === type).map((block) => block[key]);
}

function blockFaults(block: Json): string[] {
  if (block.type === 'text') {
    const isBlank = typeof block.text !== 'string' || block.text.trim() === '';
    return isBlank ? ['text content blocks must contain non-whitespace text'] : [];
  }
  if (block.type === 'image') return sourceFaults(block.source, ['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
  if (block.type === 'document') return sourceFaults(block.source, ['application/pdf']);
  if (block.type === 'tool_use')
    return isObject(block.input) ? [] : ['tool_use.input: Input should be a valid dictionary'];
  if (block.type !== 'tool_result') return [`content: unknown type ${String(block.type)}`];
  const content = blocksOf(block);
  const faults =
    content.length === 0 ? ['tool_result: content is empty'] : content.flatMap((part) => blockFaults(part));
  if (block.is_error === true && content.some(({ type }) => type !== 'text')) {
    faults.push("all content must be type 'text' if 'is_error' is true");
  }
  return faults;
}

function sourceFaults(source: unknown, mediaTypes: readonly string[]): string[] {
  if (!isObject(source) || source.type !== 'base64') return ['source: unknown type'];
  const { media_type, data } = source;
  if (!mediaTypes.includes(media_type as string)) return [`source.media_type: ${String(media_type)} is not supported`];
  if (!isBase64(data)) return ['source.data: invalid base64 data'];
  if (magicOf(data) !== media_type) return [`Image does not match the provided media type ${String(media_type)}`];
  if (!String(media_type).startsWith('image/')) return [];
  if (data.length > 5 * 1024 * 1024) return ['image exceeds 5 MB maximum'];
  const head = Buffer.from(data.slice(0, 64), 'base64');
  const isLarge = media_type === 'image/png' && Math.max(head.readUInt32BE(16), head.readUInt32BE(20)) > 8_000;
  return isLarge ? ['At least one of the image dimensions exceed max allowed size: 8000 pixels'] : [];
}
