import { ToolMessage, type MessageContent } from '@langchain/core/messages';
import { DynamicStructuredTool, type ToolRunnableConfig } from '@langchain/core/tools';
import { CancelledError, DeadlineExceededError } from '../../errors';
import type { ToolRegistry } from '../../registry/tool-registry';
import type { ToolExecution } from '../../tool/execution';
import { answer } from '../presentation/answer-calls';
import type { FittedTool } from '../presentation/fit-tool';
import type { PresentationOptions } from '../presentation/limits';
import { presentResult, Turn, type Presentation } from '../presentation/present';
import { partsThatSayFailure } from '../presentation/presented-result';
import { callingMessage, isCutOff } from './calling-message';
import { contentOf, formFor, mediaOf, type MediaForm } from './media-form';

/** How a tool's calls are answered. */
interface RegistryToolMeans {
  readonly registry: ToolRegistry;
  readonly media: MediaForm | undefined;
  /** What every adapter takes. */
  readonly options: Pick<PresentationOptions, 'limits' | 'onExecution'>;
  /** What is left of the limits, by the message that makes the calls. */
  readonly turns: WeakMap<object, Turn>;
}

/** What LangChain's own nodes add to a call's configuration. */
type CallConfig = ToolRunnableConfig & { readonly state?: unknown };

/** Content and artifact. */
type Answer = [MessageContent | ToolMessage, ToolExecution];

/** A tool of a registry, as LangChain knows tools. */
export class RegistryTool extends DynamicStructuredTool {
  private readonly unchecked: DynamicStructuredTool;

  constructor({ name, description, inputSchema, restore }: FittedTool, means: RegistryToolMeans) {
    const func = async (input: unknown, _manager: unknown, config?: CallConfig): Promise<Answer> => {
      try {
        return await answered({ name, input, config, restore }, means);
      } catch (error) {
        throw endOf(means.registry, error);
      }
    };
    const fields = { name, description, responseFormat: 'content_and_artifact', func };
    super({ ...fields, schema: inputSchema });
    // LangChain holds arguments against the schema and throws what does not match, or what its validator cannot read,
    // without a word for the model of what is wrong. The server checks them, and says so (R14).
    this.unchecked = new DynamicStructuredTool({ ...fields, schema: {} });
  }

  override call: DynamicStructuredTool['call'] = (input, config, tags) =>
    this.unchecked.call(input ?? {}, config, tags);
}

interface Call {
  readonly name: string;
  readonly input: unknown;
  readonly config: CallConfig | undefined;
  readonly restore: FittedTool['restore'];
}

async function answered(
  { name, input, config, restore }: Call,
  { registry, media, options, turns }: RegistryToolMeans,
): Promise<Answer> {
  const { signal, toolCall, state } = config ?? {};
  const call = { id: toolCall?.id ?? '', name, input, isCutOff: isCutOff(state, toolCall?.id) };
  const answering = { ...options, signal, restore: (_: string, given: unknown) => restore(given) };
  const answeredCall = await answer(registry, call, answering);
  const { execution } = answeredCall;
  const form = media ?? formFor(state);
  const presentation = { binding: registry.binding, media: mediaOf(form), options: { ...options, signal } };
  const result = await presentResult(answeredCall, presentation, turnOf(state, presentation, turns));
  const content = contentOf(partsThatSayFailure(result), form);
  if (!result.isError || toolCall?.id === undefined) return [content, execution];
  // A message is passed on as it is; LangChain marks what it makes itself as a success.
  const message = new ToolMessage({ content, artifact: execution, name, tool_call_id: toolCall.id, status: 'error' });
  return [message, execution];
}

/** The turn to which a call belongs; without a state that shows the message that made it, a turn of its own. */
function turnOf(state: unknown, presentation: Presentation, turns: WeakMap<object, Turn>): Turn {
  const turn = new Turn(presentation);
  const message = callingMessage(state);
  const known = message && turns.get(message);
  if (message && !known) turns.set(message, turn);
  return known ?? turn;
}

/** What ends an agent: for all calls of an ended run the same object, or LangGraph would throw an AggregateError. */
function endOf({ binding: { run } }: ToolRegistry, error: unknown): unknown {
  const isEnd = CancelledError.is(error) || DeadlineExceededError.is(error);
  return isEnd && run?.signal.aborted ? run.signal.reason : error;
}
