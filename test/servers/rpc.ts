/** A JSON object of which nothing is known yet. */
export type JsonObject = Record<string, unknown>;

/** The id of a JSON-RPC request, as far as the protocol allows it. */
export type RpcId = string | number | null;

/** The parameters of `tools/call`. */
export interface CallParams extends JsonObject {
  name: string;
  arguments?: JsonObject;
}

/** What a message from the client is: its JSON-RPC method, or `response`, `batch` or `invalid`. */
export function methodOf(message: unknown): string {
  if (Array.isArray(message)) return 'batch';
  if (!isObject(message)) return 'invalid';
  if (typeof message.method === 'string') return message.method;
  return 'result' in message || 'error' in message ? 'response' : 'invalid';
}

/** The `params` of a message, `{}` where it has none. */
export function paramsOf(message: unknown): JsonObject {
  return isObject(message) && isObject(message.params) ? message.params : {};
}

/** The `id` of a message, undefined for a notification. */
export function idOf(message: unknown): RpcId | undefined {
  return isObject(message) ? (message.id as RpcId | undefined) : undefined;
}

/** The token under which the client wants to hear of progress. */
export function progressTokenOf(message: unknown): string | number | undefined {
  const meta = paramsOf(message)._meta;
  return isObject(meta) ? (meta.progressToken as string | number | undefined) : undefined;
}

/** The value of a JSON text, undefined where it is none. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Whether a value is a JSON object: no array, not null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A well-formed tool definition; `extra` overrides any of its fields. */
export function tool(name: string, extra: JsonObject = {}): JsonObject {
  return { name, description: `The tool ${name}.`, inputSchema: { type: 'object' }, ...extra };
}

/** A well-formed tool result of one text block; `extra` adds or overrides fields. */
export function text(content: string, extra: JsonObject = {}): JsonObject {
  return { content: [{ type: 'text', text: content }], ...extra };
}
