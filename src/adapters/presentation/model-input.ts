import { messageOf } from '../../errors';

/** What a model's arguments are: the input of a call, or what is wrong with them. */
export type ModelInput = { readonly input: unknown } | { readonly fault: string };

/**
 * Reads the arguments of a call as a provider hands them over: a value, or its JSON. An empty text is what some providers
 * send for no arguments. That the input is an object is for the tool to check.
 */
export function modelInput(given: unknown): ModelInput {
  if (typeof given !== 'string') return { input: given };
  if (given.trim() === '') return { input: {} };
  try {
    return { input: JSON.parse(given) as unknown };
  } catch (error) {
    return { fault: `expected a JSON object, got something that is not JSON (${messageOf(error)}).` };
  }
}
