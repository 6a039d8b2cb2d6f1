import type { JsonSchema } from 'mcp-toolset';

/** A JSON Schema of arguments in one line, as in `{ path: string, head?: number }`. */
export function signature(schema: JsonSchema): string {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, JsonSchema>; required?: string[] };
  const fields = Object.entries(properties).map(
    ([name, property]) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(property)}`,
  );
  return fields.length > 0 ? `{ ${fields.join(', ')} }` : '{}';
}

function typeOf({ enum: choices, type, pattern }: JsonSchema): string {
  if (Array.isArray(choices)) return choices.map((choice) => JSON.stringify(choice)).join(' | ');
  return typeof pattern === 'string' ? `/${pattern}/` : typeof type === 'string' ? type : 'any';
}
