import { wellFormed } from '../../mcp/well-formed';
import type { JsonSchema } from '../../tool/json-schema';
import { toolNames } from '../../tool/names';
import type { ToolSpecification } from '../../tool/tool';
import { objectRoot } from './object-root';
import { portableSchema } from './portable-schema';
import { withoutDeadReferences } from './references';
import { isSchema } from './schema-walk';
import { abbreviated } from './text';

/** What a provider asks of a tool, beyond an object at the root of its schema. */
export interface ToolRules {
  /** Characters of a description. Default: no limit. */
  readonly maxDescriptionLength?: number | undefined;
  /** What the names of parameters at the root must look like. Default: anything. */
  readonly parameterNames?: RegExp | undefined;
}

/** The schema of a tool's input as providers take it: an object with properties, and nothing beside them at its root. */
export interface FittedSchema extends JsonSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, unknown>>;
}

/** A tool as a provider is told of it. */
export interface FittedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: FittedSchema;
  /** The input that the tool is given for what the model wrote: where parameters were renamed, by their own names. */
  readonly restore: (input: unknown) => unknown;
}

/** Characters of what a description says about a schema. */
const LONGEST_REMARK = 2_000;

/**
 * A tool in the form that a provider takes. The registry's schema stays as it is (R14); the copy allows what the original
 * describes, and where it allows more, the description says so.
 */
export function fitTool({ name, description, inputSchema }: ToolSpecification, rules: ToolRules = {}): FittedTool {
  const { schema, isLooser, sentences } = objectRoot(portableSchema(inputSchema));
  const renamed = rename(schema, rules.parameterNames);
  const fitted = withoutDeadReferences(renamed.schema, { isLooser }) as FittedSchema;
  const max = rules.maxDescriptionLength ?? Infinity;
  const remark = abbreviated(sentences.join(' '), Math.min(LONGEST_REMARK, max / 2));
  const beginning = abbreviated(description, remark === '' ? max : max - remark.length - 1);
  return {
    name,
    description: (remark === '' ? beginning : `${beginning}\n${remark}`).toWellFormed(),
    inputSchema: wellFormed(fitted) as FittedSchema,
    restore: (input) => restored(input, renamed.names),
  };
}

/** Keywords at the root that speak of parameters by their names, or of those that others have not spoken of. */
const ABOUT_NAMES = new Set([
  ...['dependentRequired', 'dependentSchemas', 'dependencies', 'propertyNames', 'if', 'then', 'else'],
  ...['patternProperties', 'unevaluatedProperties'],
]);

function isAboutNames(key: string, schema: JsonSchema): boolean {
  return ABOUT_NAMES.has(key) || (key === 'additionalProperties' && 'patternProperties' in schema);
}

interface Renamed {
  readonly schema: JsonSchema;
  /** The parameters' own names by those that the model sees. */
  readonly names: ReadonlyMap<string, string>;
}

/** Renames the parameters whose names a provider refuses; each says in its description what it is called. */
function rename(schema: JsonSchema, allowed: RegExp | undefined): Renamed {
  const properties = Object.entries(Object(schema.properties) as Record<string, unknown>);
  const own = properties.map(([key]) => key);
  if (!allowed || own.every((key) => allowed.test(key))) return { schema, names: new Map() };
  const repaired = toolNames(own);
  const seen = new Map(own.map((key, index) => [key, allowed.test(key) ? key : (repaired[index] ?? key)]));
  const nameOf = (key: unknown): unknown => seen.get(key as string) ?? key;
  // What is said of names that are other names now.
  const rest = Object.fromEntries(Object.entries(schema).filter(([key]) => !isAboutNames(key, schema)));
  const required = Array.isArray(schema.required) ? { required: schema.required.map(nameOf) } : {};
  const entries = properties.map(([key, value]) => [nameOf(key), seen.get(key) === key ? value : named(value, key)]);
  return {
    schema: { ...rest, properties: Object.fromEntries(entries), ...required },
    names: new Map([...seen].flatMap(([key, name]) => (key === name ? [] : [[name, key]]))),
  };
}

function named(schema: unknown, name: string): unknown {
  if (!isSchema(schema)) return schema;
  const { description } = schema;
  const called = `Called ${JSON.stringify(name)} by the tool.`;
  return {
    ...schema,
    description: typeof description === 'string' && description !== '' ? `${description} ${called}` : called,
  };
}

function restored(input: unknown, names: ReadonlyMap<string, string>): unknown {
  if (names.size === 0 || !isSchema(input)) return input;
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [names.get(key) ?? key, value]));
}
