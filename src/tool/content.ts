import { ToolError } from '../errors';

/**
 * What the model sees of a value: the string itself, nothing for null and undefined, else its JSON.
 * @throws ToolError when the value cannot be written as JSON
 */
export function contentOf(value: unknown): string {
  if (typeof value === 'string') return value.toWellFormed();
  if (value === undefined || value === null) return '';
  const json = serialise(value);
  if (json === undefined)
    throw new ToolError(`The tool returned a value of the type ${typeof value}, which cannot be shown as JSON.`);
  return json;
}

function serialise(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    // Whatever failed in there, its message is not meant for the model.
    throw new ToolError('The tool returned a value that cannot be shown as JSON.', { cause });
  }
}
