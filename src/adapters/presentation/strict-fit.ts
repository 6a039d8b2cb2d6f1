import type { JsonSchema } from '../../tool/json-schema';
import { isSchema, KEYWORDS } from './schema-walk';

/** The keywords of OpenAI's strict mode (Structured Outputs, supported schemas). */
const SUPPORTED = new Set([
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const', 'anyOf', '$ref', '$defs'],
  ...['title', 'description', 'pattern', 'format', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['multipleOf', 'minItems', 'maxItems'],
]);
const FORMATS = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']);
const MAX_DEPTH = 10;
const MAX_PROPERTIES = 5_000;
const MAX_ENUM_VALUES = 1_000;
const MAX_CHARACTERS = 120_000;
const LARGE_ENUM = 250;
const MAX_LARGE_ENUM_CHARACTERS = 15_000;

/**
 * Whether a fitted schema is proved to fit OpenAI's strict mode too: every object closed, every property required,
 * nothing but what is supported, within the limits. A schema that would have to be changed does not fit.
 */
export function fitsStrictMode(root: JsonSchema): boolean {
  const count = new Count(root);
  return root.type === 'object' && !('anyOf' in root) && count.fits(root, 1) && count.isWithinLimits();
}

class Count {
  private properties = 0;
  private enumValues = 0;
  private characters = 0;

  constructor(private readonly root: JsonSchema) {}

  isWithinLimits(): boolean {
    return this.properties <= MAX_PROPERTIES && this.enumValues <= MAX_ENUM_VALUES && this.characters <= MAX_CHARACTERS;
  }

  fits(schema: unknown, depth: number): boolean {
    if (!isSchema(schema) || depth > MAX_DEPTH || !this.isWithinLimits()) return false;
    if (!Object.keys(schema).every((key) => SUPPORTED.has(key))) return false;
    if ('$ref' in schema) return this.isReference(schema);
    if ('$defs' in schema && schema !== this.root) return false;
    const isTyped = ['type', 'anyOf', 'enum', 'const'].some((key) => key in schema);
    const isFormatKnown = schema.format === undefined || FORMATS.has(schema.format as string);
    return (
      isTyped && isFormatKnown && this.valuesFit(schema) && this.objectFits(schema) && this.partsFit(schema, depth)
    );
  }

  private isReference(schema: JsonSchema): boolean {
    const { $ref } = schema;
    return Object.keys(schema).length === 1 && typeof $ref === 'string' && /^#($|\/\$defs\/)/.test($ref);
  }

  private valuesFit({ enum: values, const: value }: JsonSchema): boolean {
    const listed: readonly unknown[] = Array.isArray(values) ? values : [];
    const texts = [...listed, ...(value === undefined ? [] : [value])];
    const length = texts.reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0);
    this.enumValues += listed.length;
    this.characters += length;
    return texts.length <= LARGE_ENUM || length <= MAX_LARGE_ENUM_CHARACTERS;
  }

  private objectFits({ type, properties, required, additionalProperties }: JsonSchema): boolean {
    if (![type].flat().includes('object')) return properties === undefined;
    const names = Object.keys(Object(properties) as object);
    const needed = new Set<unknown>(Array.isArray(required) ? required : []);
    this.properties += names.length;
    this.characters += names.join('').length;
    return additionalProperties === false && names.length === needed.size && names.every((name) => needed.has(name));
  }

  private partsFit(schema: JsonSchema, depth: number): boolean {
    const definitions = Object.entries(Object(schema.$defs) as Record<string, unknown>);
    this.characters += definitions.reduce((sum, [name]) => sum + name.length, 0);
    const parts = Object.entries(schema).flatMap(([key, value]) => {
      const kind = KEYWORDS.get(key);
      if (kind === 'schemaMap') return Object.values(Object(value) as object) as unknown[];
      if (kind === 'schemas') return value;
      return kind === 'schema' && key !== 'additionalProperties' ? [value] : [];
    });
    return parts.every((part) => this.fits(part, depth + 1));
  }
}
