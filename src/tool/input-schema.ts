import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019';
import { Ajv2020 } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { ConfigurationError, messageOf } from '../errors';
import type { JsonSchema } from './json-schema';

const OPTIONS: Options = {
  strict: false,
  allErrors: true,
  validateFormats: true,
  addUsedSchema: false,
  logger: false,
  // A property that only Object.prototype has, such as "constructor", is missing.
  ownProperties: true,
};
const MOST_FAULTS = 10;

const dialects: readonly { readonly pattern: RegExp; readonly create: () => Ajv }[] = [
  { pattern: /draft-0[67]/, create: () => new Ajv(OPTIONS) },
  { pattern: /2019-09/, create: () => new Ajv2019(OPTIONS) },
  { pattern: /2020-12/, create: () => new Ajv2020(OPTIONS) },
];
const DEFAULT_DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** Checks a value and tells its faults, each with its path; no faults means that it fits. */
export type SchemaCheck = (value: unknown) => readonly string[];

/**
 * Compiles a JSON Schema by the dialect that its `$schema` names, 2020-12 by default. Every schema is compiled by a
 * compiler of its own, so equal `$id`s do not meet.
 * @throws Error when the schema is not valid or names an unknown dialect
 */
export function compileSchema(schema: JsonSchema): SchemaCheck {
  const named = schema.$schema ?? DEFAULT_DIALECT;
  const dialect = dialects.find(({ pattern }) => typeof named === 'string' && pattern.test(named));
  if (!dialect)
    throw new Error(`unknown $schema ${JSON.stringify(named)}; draft-06, draft-07, 2019-09 and 2020-12 are known`);
  const compiler = dialect.create();
  addFormats(compiler);
  const validate = compiler.compile(plain(schema));
  return (value) => (validate(value) ? [] : faultsOf(validate));
}

/** Without what means something to the compiler only: `$async` would turn every check into a promise. */
function plain({ $async: _, ...schema }: JsonSchema): JsonSchema {
  const named = schema.$schema;
  if (typeof named !== 'string' || !named.includes('draft-06')) return schema;
  return { ...schema, $schema: 'http://json-schema.org/draft-07/schema#' };
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
  return `${instancePath || '/'} ${message ?? keyword}${extra}${allowed}`;
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
    const check = compileSchema(schema);
    compiled.set(schema, check);
    return check;
  } catch (cause) {
    throw new ConfigurationError(`Tool ${toolName}: its inputSchema is not a valid JSON Schema: ${messageOf(cause)}`, {
      cause,
    });
  }
}
