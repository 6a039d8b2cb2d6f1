import { ConfigurationError } from '../errors';
import { compileSchema } from '../tool/input-schema';
import type { JsonSchema } from '../tool/json-schema';
import type { ElicitationAnswer, ElicitationRequest, Root, SamplingAnswer } from '../toolset/handler-types';

const ACTIONS: readonly unknown[] = ['accept', 'decline', 'cancel'];

/**
 * What a server is answered, checked before it leaves.
 * @throws ConfigurationError when a handler returned something that is no answer to the request
 */
export function checkedAnswer(
  role: 'onElicitation' | 'onSampling' | 'listRoots',
  request: object,
  answer: unknown,
): object {
  if (role === 'listRoots') return { roots: checkedRoots(answer) };
  if (typeof answer !== 'object' || answer === null) throw new ConfigurationError(`it returned ${String(answer)}`);
  if (role === 'onElicitation') return checkedElicitation(request as ElicitationRequest, answer as ElicitationAnswer);
  const { model, role: speaker, content } = answer as Partial<SamplingAnswer>;
  if (typeof model !== 'string' || typeof speaker !== 'string' || content === undefined) {
    throw new ConfigurationError('expected an answer with role, model and content');
  }
  return answer;
}

function checkedElicitation(request: ElicitationRequest, answer: ElicitationAnswer): object {
  const { action } = answer;
  if (!ACTIONS.includes(action)) throw new ConfigurationError('expected "action" to be accept, decline or cancel');
  if (action !== 'accept' || request.mode === 'url') return { action };
  const schema = request.requestedSchema ?? { type: 'object' };
  const content = { ...defaultsOf(schema), ...answer.content };
  const faults = compileSchema(schema, { allFaults: true })(content);
  if (faults.length > 0) {
    throw new ConfigurationError(`the content does not match the requested schema: ${faults.join('; ')}`);
  }
  return { action, content };
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

function checkedRoots(answer: unknown): readonly Root[] {
  if (!Array.isArray(answer)) throw new ConfigurationError('expected an array of roots');
  for (const root of answer as unknown[]) {
    const { uri } = Object(root) as { uri?: unknown };
    if (typeof uri !== 'string' || !URL.canParse(uri) || new URL(uri).protocol !== 'file:') {
      throw new ConfigurationError(`expected every root to have a file: URL as "uri", got ${JSON.stringify(uri)}`);
    }
  }
  return answer as Root[];
}
