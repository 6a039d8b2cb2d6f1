import type { z } from 'zod/v4';
import { ConfigurationError } from '../errors';
import { defined } from '../options';
import { compileSchema } from '../tool/input-schema';
import type { JsonSchema } from '../tool/json-schema';
import type { ElicitationAnswer, ElicitationRequest, Root } from '../toolset/handler-types';
import {
  CreateMessageResultSchema,
  CreateMessageResultWithToolsSchema,
  ElicitResultSchema,
  ListRootsResultSchema,
} from './official-client';

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel'];

/** What a server asked, and of which toolset. */
export interface Asked {
  readonly role: 'onElicitation' | 'onSampling' | 'listRoots';
  readonly request: object;
  /** Its name. */
  readonly toolset: string;
}

/**
 * What a server is answered, checked before it leaves.
 * @throws ConfigurationError when a handler returned something that is no answer to the request
 */
export function checkedAnswer({ role, request, toolset }: Asked, answer: unknown): object {
  const faulty = (message: string): Error => new ConfigurationError(message, { toolset });
  if (role === 'listRoots') return checked(ListRootsResultSchema, { roots: checkedRoots(answer, faulty) }, faulty);
  if (!isObject(answer)) throw faulty(`it returned ${String(answer)}`);
  if (role === 'onElicitation')
    return checkedElicitation(request as ElicitationRequest, answer as ElicitationAnswer, faulty);
  const { tools, toolChoice } = request as { tools?: unknown; toolChoice?: unknown };
  return checked(tools || toolChoice ? CreateMessageResultWithToolsSchema : CreateMessageResultSchema, answer, faulty);
}

/** The error of an answer with a fault. */
type Faulty = (message: string) => Error;

function checkedElicitation(request: ElicitationRequest, answer: ElicitationAnswer, faulty: Faulty): object {
  const { action, content: given = {} } = answer;
  if (!ACTIONS.includes(action)) throw faulty('expected "action" to be accept, decline or cancel');
  if (action !== 'accept' || request.mode === 'url') return { action };
  if (!isObject(given)) throw faulty('expected "content" to be an object');
  const schema = request.requestedSchema ?? { type: 'object' };
  const content = { ...defaultsOf(schema), ...defined(given) };
  const faults = compileSchema(schema, { allFaults: true })(content);
  if (faults.length > 0) throw faulty(`the content does not match the requested schema: ${faults.join('; ')}`);
  return checked(ElicitResultSchema, { action, content }, faulty);
}

/** The answer, where the protocol allows it. */
function checked(schema: z.ZodType, answer: object, faulty: Faulty): object {
  const { error } = schema.safeParse(answer);
  if (!error) return answer;
  const faults = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw faulty(`the protocol does not allow the answer: ${faults.join('; ')}`);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function defaultsOf({ properties }: JsonSchema): object {
  const entries = Object.entries(Object(properties) as Record<string, unknown>);
  return Object.fromEntries(
    entries.flatMap(([name, schema]) => {
      const { default: value } = Object(schema) as { default?: unknown };
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function checkedRoots(answer: unknown, faulty: Faulty): readonly Root[] {
  if (!Array.isArray(answer)) throw faulty('expected an array of roots');
  for (const root of answer as unknown[]) {
    const { uri } = Object(root) as { uri?: unknown };
    if (typeof uri !== 'string' || !URL.canParse(uri) || new URL(uri).protocol !== 'file:') {
      throw faulty(`expected every root to have a file: URL as "uri", got ${JSON.stringify(uri)}`);
    }
  }
  return answer as Root[];
}
