import { magicOf } from './media-bytes';
import { isBase64, isObject, NAME, schemaFaults, schemasIn, type Json } from './schema-rules';
import type { ApiRequest } from './scripted-api';

const IMAGES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

/** What OpenAI's APIs refuse, as their documentation and their answers say. */
export function openaiFaults({ path, headers, body }: ApiRequest): string[] {
  const faults = headers.authorization?.startsWith('Bearer ') ? [] : ['You did not provide an API key'];
  if (typeof body.model !== 'string') faults.push("Missing required parameter: 'model'");
  const tools = (body.tools ?? []) as Json[];
  const functions = path === '/responses' ? tools : tools.map((tool) => tool.function as Json);
  faults.push(...functions.flatMap((tool, index) => functionFaults(tool).map((fault) => `tools[${index}]: ${fault}`)));
  if (!tools.every(({ type }) => type === 'function')) faults.push('tools: unknown type');
  if (path === '/responses') {
    // Left out, it would be true.
    if (!tools.every(({ strict }) => typeof strict === 'boolean')) faults.push('tools: strict is not said');
    return [...faults, ...inputFaults(body.input as Json[])];
  }
  if (path === '/chat/completions') return [...faults, ...messageFaults(body.messages as Json[])];
  return [...faults, `no such path: ${path}`];
}

function functionFaults({ name, description, parameters, strict }: Json): string[] {
  const faults = schemaFaults(parameters).map((fault) => `Invalid schema for function: ${fault}`);
  if (typeof name !== 'string' || !NAME.test(name)) faults.push(`name ${String(name)} does not match`);
  if (typeof description !== 'string' || description.length > 1_024) faults.push('description: string too long');
  for (const schema of schemasIn(parameters)) {
    if ([schema.type].flat().includes('array') && !('items' in schema)) faults.push('array schema missing items');
    if (/\(\?[=!<]/.test(String(schema.pattern))) faults.push(`pattern ${String(schema.pattern)} is not supported`);
    if (strict === true) faults.push(...strictFaults(schema));
  }
  return faults;
}

function strictFaults(schema: Json): string[] {
  const faults: string[] = [];
  const required = [...((schema.required ?? []) as string[])].sort();
  if (schema.type === 'object') {
    if (schema.additionalProperties !== false) faults.push("'additionalProperties' is required to be false");
    if (JSON.stringify(required) !== JSON.stringify(Object.keys(schema.properties as object).sort())) {
      faults.push("'required' is required to include every key in properties");
    }
  }
  if (!['type', '$ref', 'anyOf', 'enum', 'const'].some((key) => key in schema))
    faults.push("schema must have a 'type' key");
  for (const key of ['allOf', 'oneOf', 'not', 'if', 'default', 'patternProperties', 'minLength', 'uniqueItems']) {
    if (key in schema) faults.push(`'${key}' is not permitted`);
  }
  if ('$ref' in schema && Object.keys(schema).length > 1) faults.push('$ref cannot have keywords beside it');
  return faults;
}

function inputFaults(input: readonly Json[]): string[] {
  const calls = input.filter(({ type }) => type === 'function_call').map(({ call_id }) => call_id);
  const outputs = input.filter(({ type }) => type === 'function_call_output');
  const answered = outputs.map(({ call_id }) => call_id);
  const faults = calls.filter((id) => !answered.includes(id)).map((id) => `No tool output found for ${String(id)}.`);
  faults.push(...answered.filter((id) => !calls.includes(id)).map((id) => `No tool call found for ${String(id)}.`));
  return [...faults, ...outputs.flatMap(({ output }) => outputFaults(output))];
}

function outputFaults(output: unknown): string[] {
  if (typeof output === 'string') return output.trim() === '' ? ['output is empty'] : [];
  if (!Array.isArray(output) || output.length === 0) return ['output: expected a string or an array'];
  return (output as Json[]).flatMap((part) => {
    if (part.type === 'input_text') return outputFaults(part.text ?? '');
    if (part.type === 'input_image') return urlFaults(part.image_url, IMAGES);
    if (part.type === 'input_file' && typeof part.filename === 'string' && part.filename !== '') {
      return urlFaults(part.file_data, ['application/pdf']);
    }
    return [`output: ${String(part.type)} is not supported`];
  });
}

function urlFaults(url: unknown, mediaTypes: readonly string[]): string[] {
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(String(url)) ?? [];
  if (mediaType === undefined || !mediaTypes.includes(mediaType)) return [`unsupported media type ${mediaType}`];
  if (!isBase64(data)) return ['invalid base64'];
  return magicOf(data) === mediaType ? [] : [`the data is no ${mediaType}`];
}

function messageFaults(messages: readonly Json[]): string[] {
  const faults: string[] = [];
  for (const [index, message] of messages.entries()) {
    const ids = ((message.tool_calls ?? []) as Json[]).map(({ id }) => id);
    const following = messages.slice(index + 1, index + 1 + ids.length);
    const answered = following.map(({ role, tool_call_id }) => (role === 'tool' ? tool_call_id : undefined));
    if (!ids.every((id) => answered.includes(id))) faults.push("'tool_calls' must be followed by tool messages");
    if (message.role === 'tool' && (typeof message.content !== 'string' || message.content.trim() === '')) {
      faults.push('tool message: content must be text');
    }
    if (message.role === 'user' && Array.isArray(message.content)) {
      faults.push(...(message.content as Json[]).flatMap((part) => contentFaults(part)));
    }
  }
  return faults;
}

function contentFaults({ type, text, image_url, file }: Json): string[] {
  if (type === 'text') return outputFaults(text);
  if (type === 'image_url' && isObject(image_url)) return urlFaults(image_url.url, IMAGES);
  if (type === 'file' && isObject(file) && file.filename !== undefined)
    return urlFaults(file.file_data, ['application/pdf']);
  return [`content: ${String(type)} is not supported`];
}
