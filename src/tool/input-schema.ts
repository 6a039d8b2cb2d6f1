import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019';
import { Ajv2020 } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { ConfigurationError, messageOf } from '../errors';
import type { JsonSchema } from './json-schema';
import { withinTime } from './time-limit';

const OPTIONS: Options = {
  strict: false,
  validateFormats: true,
  logger: false,
  // Else every object would have properties named constructor, toString, …
  ownProperties: true,
  // A server could make a schema explode that is written into every place that refers to it.
  inlineRefs: false,
};
const MOST_FAULTS = 10;
const LONGEST_FAULT = 300;
/** Milliseconds: schemas and values come from servers and models, and either can make a check endless. */
const LONGEST_CHECK = 1_000;

const DEFAULT_DIALECT = 'https://json-schema.org/draft/2020-12/schema';
interface Dialect {
  readonly pattern: RegExp;
  readonly id: string;
  readonly create: (options: Options) => Ajv;
}

const dialects: readonly Dialect[] = [
  // Draft-06 is part of draft-07.
  { pattern: /draft-0[67]/, id: 'http://json-schema.org/draft-07/schema#', create: (options) => new Ajv(options) },
  { pattern: /2019-09/, id: 'https://json-schema.org/draft/2019-09/schema', create: (options) => new Ajv2019(options) },
  { pattern: /2020-12/, id: DEFAULT_DIALECT, create: (options) => new Ajv2020(options) },
];

/** Checks a value and tells its faults, each with its path; no faults means that it fits. */
export type SchemaCheck = (value: unknown) => readonly string[];

/**
 * Compiles a JSON Schema by the dialect that its `$schema` names, 2020-12 by default. Every schema is compiled by a
 * compiler of its own, so equal `$id`s do not meet. A check that does not end in time, or at all, is a fault. With
 * `allFaults` it tells more than the first one, which takes memory for each.
 * @throws Error when the schema is not valid, names an unknown dialect or takes too long
 */
export function compileSchema(schema: JsonSchema, { allFaults }: { readonly allFaults: boolean }): SchemaCheck {
  const named = schema.$schema ?? DEFAULT_DIALECT;
  const dialect = dialects.find(({ pattern }) => typeof named === 'string' && pattern.test(named));
  if (!dialect)
    throw new Error(`unknown $schema ${JSON.stringify(named)}; draft-06, draft-07, 2019-09 and 2020-12 are known`);
  // `$async` is no keyword of JSON Schema, but would have the compiler make a check that returns a promise.
  const { $async: _, ...rest } = schema;
  const own = protoAsPattern({ ...rest, $schema: dialect.id });
  const compiler = dialect.create({ ...OPTIONS, allErrors: allFaults, validateSchema: false });
  addFormats(compiler);
  const judge = judgeOf(dialect);
  const validate = withinTime(LONGEST_CHECK, () => {
    void judge.validateSchema(own, true);
    return compiler.compile(own);
  });
  const limit = UNBOUNDED.test(JSON.stringify(own)) ? LONGEST_CHECK : undefined;
  return (value) => check(validate, value, limit);
}

/** Keywords by which a small value can take a long time to check. */
const UNBOUNDED = /"(pattern|patternProperties|format|uniqueItems|\$ref|\$dynamicRef|\$recursiveRef|contains)":/;

const judges = new Map<string, Ajv>();

/** What knows the schemas of schemas; it keeps no schema that it judges. */
function judgeOf({ id, create }: Dialect): Ajv {
  const known = judges.get(id);
  if (known) return known;
  const judge = create(OPTIONS);
  // Compiles the schemas of schemas, with all the time that it takes: one that is broken off there judges no schema any more.
  void judge.validateSchema({ $schema: id });
  judges.set(id, judge);
  return judge;
}

function check(validate: ValidateFunction, value: unknown, limit: number | undefined): readonly string[] {
  const work = (): readonly string[] => (validate(value) ? [] : faultsOf(validate));
  try {
    return limit === undefined ? work() : withinTime(limit, work);
  } catch (error) {
    return [`/ cannot be checked: ${messageOf(error)}`];
  }
}

/** The compiler passes over a property named `__proto__`; as a pattern that is a name like any other. */
function protoAsPattern(schema: JsonSchema): JsonSchema {
  const json = JSON.stringify(schema);
  if (!json.includes('"__proto__"')) return schema;
  return JSON.parse(json, (_key, part: unknown) => {
    const { properties, patternProperties, ...rest } = Object(part) as Record<string, object | null | undefined>;
    if (!properties || !Object.hasOwn(properties, '__proto__')) return part;
    const { ['__proto__']: proto, ...others } = properties as Record<string, unknown>;
    return { ...rest, properties: others, patternProperties: { ...patternProperties, '^__proto__$': proto } };
  }) as JsonSchema;
}

function faultsOf({ errors }: ValidateFunction): readonly string[] {
  const faults = [...new Set((errors ?? []).map(describeFault))];
  const more = faults.length - MOST_FAULTS;
  return more > 0 ? [...faults.slice(0, MOST_FAULTS), `and ${more} more`] : faults;
}

function describeFault({ instancePath, message, keyword, params }: ErrorObject): string {
  const details = params as Record<string, unknown>;
  const extra = keyword === 'additionalProperties' ? ` (${JSON.stringify(details.additionalProperty)})` : '';
  const allowed = keyword === 'enum' ? ` ${JSON.stringify(details.allowedValues)}` : '';
  const fault = `${instancePath || '/'} ${message ?? keyword}${extra}${allowed}`;
  return fault.length > LONGEST_FAULT ? `${fault.slice(0, LONGEST_FAULT).toWellFormed()}…` : fault;
}

const MOST_SHARED = 1_000;
const LONGEST_SHARED = 64 * 1024;
/** Those that were asked for lately, and those of before: what is asked for again is kept, and nothing is taken out. */
let recent = new Map<string, SchemaCheck>();
let earlier = new Map<string, SchemaCheck>();

/**
 * The check of a schema by its content, compiled once for all that have the same; the latest of them are remembered.
 * @throws Error as `compileSchema` does
 */
export function sharedCheck(schema: JsonSchema): SchemaCheck {
  const content = JSON.stringify(schema);
  const known = recent.get(content);
  if (known) return known;
  const check = earlier.get(content) ?? compileSchema(schema, { allFaults: false });
  if (content.length > LONGEST_SHARED) return check;
  if (recent.size >= MOST_SHARED / 2) {
    earlier = recent;
    recent = new Map();
  }
  recent.set(content, check);
  return check;
}

const compiled = new WeakMap<JsonSchema, SchemaCheck>();

/**
 * The check of a local tool's input, compiled once per schema.
 * @throws ConfigurationError when the schema is not valid
 */
export function inputCheck(schema: JsonSchema, toolName: string): SchemaCheck {
  const known = compiled.get(schema);
  if (known) return known;
  try {
    const check = compileSchema(schema, { allFaults: true });
    compiled.set(schema, check);
    return check;
  } catch (cause) {
    throw new ConfigurationError(`Tool ${toolName}: its inputSchema is not a valid JSON Schema: ${messageOf(cause)}`, {
      cause,
    });
  }
}
