import type { ToolSpecification } from './tool';

type Constructor = new (
  name: string,
  description: string,
  inputSchema: ToolSpecification['inputSchema'],
) => ToolSpecification;

/**
 * Makes a plain object, as `{ name, description, inputSchema }` does. V8 takes note of which literals make objects that
 * live long, and puts the next ones among the old objects at once, where they outlive their run, schemas and all; of
 * what a constructor makes it takes none.
 */
export const PlainSpecification = function (
  this: { -readonly [K in keyof ToolSpecification]: ToolSpecification[K] },
  ...[name, description, inputSchema]: ConstructorParameters<Constructor>
): void {
  this.name = name;
  this.description = description;
  this.inputSchema = inputSchema;
} as unknown as Constructor;
Object.defineProperty(PlainSpecification, 'prototype', { value: Object.prototype });
