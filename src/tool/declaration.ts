import { ConfigurationError } from '../errors';
import { inputCheck } from './input-schema';
import type { JsonSchema } from './json-schema';
import { isToolName } from './names';

/** What an application says about a tool of its own. */
export interface ToolDeclaration {
  readonly name: unknown;
  readonly description: unknown;
  readonly inputSchema: unknown;
}

/** Where it says it: how errors name the place and its parts. */
export interface DeclarationPlace {
  readonly where: string;
  readonly nameLabel: string;
}

/**
 * Checks what an application declares about a tool of its own.
 * @throws ConfigurationError when name, description or input schema are missing or not usable
 */
export function checkDeclaration(declaration: ToolDeclaration, { where, nameLabel }: DeclarationPlace): void {
  const { name, description, inputSchema } = declaration;
  const fail = (message: string): never => {
    throw new ConfigurationError(`${where}: ${message}`);
  };
  if (!isToolName(name)) {
    return fail(`"${nameLabel}" is ${show(name)}; expected 1 to 64 of the characters a-z, A-Z, 0-9, _ and -.`);
  }
  if (typeof description !== 'string' || description.trim() === '') {
    fail(`"description" is ${show(description)}; expected a text by which the model chooses the tool.`);
  }
  const fault = schemaFault('inputSchema', inputSchema);
  if (fault !== undefined) fail(fault);
  inputCheck(inputSchema as JsonSchema, name);
}

/** What is wrong with a value that has to be a JSON Schema object, if that can be seen without reading it. */
export function schemaFault(label: string, schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    return `"${label}" is ${show(schema)}; expected a JSON Schema object, such as { type: 'object' }.`;
  }
  if (!isZod(schema) && !Object.values(schema).some(isZod)) return undefined;
  return `"${label}" is a zod schema; expected JSON Schema, as z.toJSONSchema(schema) returns it.`;
}

function isZod(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('_zod' in value || '_def' in value);
}

/** What a value is that is none of those that were expected, as errors say it. */
export function show(value: unknown): string {
  if (value === undefined || value === '') return 'missing';
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : `a value of type ${typeof value}`;
}
