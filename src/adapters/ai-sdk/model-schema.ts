import type { Schema } from 'ai';
import type { JsonSchema } from '../../tool/json-schema';

/** By what the SDK's versions 5 to 7 know a schema of their own, whichever copy of the SDK asks. */
const SCHEMA = Symbol.for('vercel.ai.schema');
const VALIDATOR = Symbol.for('vercel.ai.validator');

/**
 * A JSON Schema as the SDK's `jsonSchema()` makes it, without loading the SDK, of which an application may have another
 * copy. It takes every input: what is wrong with one is for the tool to say. The SDK reads `jsonSchema` before each step,
 * outside of what it catches: so `check` may throw there to end the loop.
 */
export function modelSchema(jsonSchema: JsonSchema, check: () => void): Schema {
  const schema = {
    [SCHEMA]: true,
    [VALIDATOR]: true,
    _type: undefined,
    validate: undefined,
    get jsonSchema(): JsonSchema {
      check();
      return jsonSchema;
    },
  };
  return schema as unknown as Schema;
}
