import { Ajv2020 } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';

export type Json = Record<string, unknown>;

export const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a text is strict base64. */
export const isBase64 = (data: unknown): data is string =>
  typeof data === 'string' && data !== '' && data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data);

function compiler(): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, logger: false, ownProperties: true });
  addFormats(ajv);
  return ajv;
}

const judge = compiler();

const judged = new Map<string, string[]>();

/** What every provider says of the schema of a tool: 2020-12, no reference into nowhere, an object at the root. */
export function schemaFaults(schema: unknown): string[] {
  const content = JSON.stringify(schema);
  const faults = judged.get(content) ?? faultsOf(schema);
  judged.set(content, faults);
  return faults;
}

function faultsOf(schema: unknown): string[] {
  if (!isObject(schema)) return ['the schema is no object'];
  const faults: string[] = [];
  if (schema.type !== 'object') faults.push(`schema must have type 'object', got ${JSON.stringify(schema.type)}`);
  if (!isObject(schema.properties)) faults.push('object schema missing properties');
  for (const key of ['anyOf', 'oneOf', 'allOf', 'enum', 'not', '$ref']) {
    if (key in schema) faults.push(`schema must not have '${key}' at the top level`);
  }
  try {
    if (!judge.validateSchema(schema)) faults.push(`JSON schema is invalid: ${judge.errorsText()}`);
    else compiler().compile(schema);
  } catch (error) {
    faults.push(`JSON schema is invalid: ${String(error)}`);
  }
  return faults;
}

/** Whether a schema takes a value. */
export function takes(schema: unknown, value: unknown): boolean {
  return compiler().validate(schema as Json, value);
}

/** Every schema within a schema, as far as OpenAI looks. */
export function* schemasIn(schema: unknown): Generator<Json> {
  if (!isObject(schema)) return;
  yield schema;
  for (const key of ['properties', '$defs', 'definitions']) {
    for (const part of Object.values(Object(schema[key]) as object)) yield* schemasIn(part);
  }
  for (const key of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
    for (const part of Array.isArray(schema[key]) ? (schema[key] as unknown[]) : []) yield* schemasIn(part);
  }
  for (const key of ['items', 'additionalProperties', 'not']) yield* schemasIn(schema[key]);
}
