import type { JsonSchema } from '../../tool/json-schema';

/** What stands under a keyword of JSON Schema (2020-12, and of earlier drafts what is still understood). */
export type KeywordKind =
  'schema' | 'schemas' | 'schemaMap' | 'number' | 'count' | 'text' | 'flag' | 'names' | 'type' | 'list';

const kinds = (kind: KeywordKind, ...names: string[]): [string, KeywordKind][] => names.map((name) => [name, kind]);

/** The keywords whose value is bound to a form. All others hold data, or are unknown and mean nothing. */
export const KEYWORDS: ReadonlyMap<string, KeywordKind> = new Map([
  ...kinds('schema', 'additionalProperties', 'unevaluatedProperties', 'propertyNames', 'items', 'unevaluatedItems'),
  ...kinds('schema', 'additionalItems', 'contains', 'not', 'if', 'then', 'else', 'contentSchema'),
  ...kinds('schemas', 'allOf', 'anyOf', 'oneOf', 'prefixItems'),
  ...kinds('schemaMap', 'properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'),
  ...kinds('number', 'maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'multipleOf'),
  ...kinds('count', 'maxLength', 'minLength', 'maxItems', 'minItems', 'maxProperties', 'minProperties'),
  ...kinds('count', 'maxContains', 'minContains'),
  ...kinds('text', 'title', 'description', '$comment', 'format', 'contentEncoding', 'contentMediaType', 'pattern'),
  ...kinds('text', '$ref', '$dynamicRef', '$recursiveRef', '$id', '$anchor', '$dynamicAnchor'),
  ...kinds('flag', 'uniqueItems', 'deprecated', 'readOnly', 'writeOnly'),
  ...kinds('names', 'required'),
  ...kinds('type', 'type'),
  ...kinds('list', 'enum', 'examples'),
]);

/** Keywords under which `true` and `false` are understood by everyone. */
const TAKES_BOOLEANS = new Set(['additionalProperties', 'unevaluatedProperties']);
/** Deeper and larger than anything that a server may send (R11). */
const MAX_DEPTH = 128;
const MAX_NODES = 100_000;

/** Whether a value is a schema that is no boolean. */
export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The copy of what should be a schema and is none, or lies too deep; it allows anything. */
export const NOT_READ: JsonSchema = Object.freeze({});

/** Makes the copy of one schema of its entries, in which the sub-schemas are copies already. */
export type SchemaEdit = (entries: Map<string, unknown>) => JsonSchema;

/**
 * A copy of a schema with each schema in it edited, the innermost first. Only what stands where a schema belongs is taken
 * for one: a parameter may be called `properties`. The original stays as it is.
 */
export function mapSchemas(root: JsonSchema, edit: SchemaEdit): JsonSchema {
  let nodes = 0;
  const copy = (schema: unknown, depth: number): JsonSchema => {
    nodes += 1;
    if (schema === false) return { not: {} };
    if (schema === true) return {};
    if (!isSchema(schema) || depth > MAX_DEPTH || nodes > MAX_NODES) return NOT_READ;
    const entries = Object.entries(schema).map(([key, value]): [string, unknown] => [key, copied(key, value, depth)]);
    return edit(new Map(entries));
  };
  const copied = (key: string, value: unknown, depth: number): unknown => {
    const kind = KEYWORDS.get(key);
    if (kind === 'schema' && Array.isArray(value)) return value.map((entry) => copy(entry, depth + 1));
    if (kind === 'schema')
      return TAKES_BOOLEANS.has(key) && typeof value === 'boolean' ? value : copy(value, depth + 1);
    if (kind === 'schemas' && Array.isArray(value)) return value.map((entry) => copy(entry, depth + 1));
    if (kind !== 'schemaMap' || !isSchema(value)) return value;
    // fromEntries defines: a parameter may be called __proto__.
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, copy(entry, depth + 1)]));
  };
  return copy(root, 1);
}
