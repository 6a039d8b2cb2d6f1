import type { Tool, tool as sdkTool } from '@openai/agents';
import { z } from 'zod/v4';
import { callable, checkOptions } from '../../options';
import type { ToolRegistry } from '../../registry/tool-registry';
import { answer } from '../presentation/answer-calls';
import { fitTool, type FittedTool } from '../presentation/fit-tool';
import { NO_MEDIA, OPENAI_MEDIA } from '../presentation/known-media';
import { presentationOptions, type PresentationOptions } from '../presentation/limits';
import { LoopEnd } from '../presentation/loop-end';
import { presentResult, Turn, type Presentation } from '../presentation/present';
import { fitsStrictMode } from '../presentation/strict-fit';
import { MAX_DESCRIPTION_LENGTH, toolOptions } from '../presentation/tool-options';
import { agentsToolOutput, type AgentsToolOutput } from './tool-output';

/** How tools and their results are presented to agents of `@openai/agents`. */
export interface OpenAIAgentsToolOptions extends Pick<PresentationOptions, 'limits' | 'onExecution'> {
  /**
   * The SDK's own `tool` function. The application hands it over, because the SDK comes as an ES module and as a CommonJS
   * one, and each runs only the tools that it has made itself as it should.
   */
  readonly tool: typeof sdkTool;
  /**
   * `'parts'`: images and PDFs are shown to the model. `'note'`: they are not, for models without vision and for Chat
   * Completions, where the SDK leaves them out without a word. Default `'parts'`.
   */
  readonly media?: 'parts' | 'note' | undefined;
  /**
   * `'where-fit'`: strict mode for each tool whose schema fits it as it stands (every object closed, every property
   * required, nothing but supported keywords). Default `false`: for none.
   */
  readonly strict?: false | 'where-fit' | undefined;
  /** Characters of a description, before it is cut. Default 1,024, which is the most that some models take. */
  readonly maxDescriptionLength?: number | undefined;
}

const optionsSchema = z.strictObject({
  tool: callable,
  limits: presentationOptions.limits,
  onExecution: presentationOptions.onExecution,
  media: z.enum(['parts', 'note']).optional(),
  ...toolOptions,
});

/** What the SDK hands to a tool with its input. */
interface CallDetails {
  readonly toolCall?: { readonly callId: string; readonly status?: string | undefined } | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** As much of the SDK's agent as is read. */
interface ToolUser {
  readonly toolUseBehavior?: unknown;
}

/** The schema of a function tool in the SDK's types, which are narrower than what it takes. */
interface Parameters {
  type: 'object';
  properties: Record<string, Record<string, unknown>>;
  required: string[];
  additionalProperties: true;
}

/** One turn of an agent. */
interface AgentTurn {
  readonly limits: Turn;
  /** Whether the results of tools go to the model, and not to something else that the application has chosen. */
  readonly asksModelAgain: boolean;
}

/** What the tools of one registry have in common. */
interface AgentToolParts {
  readonly registry: ToolRegistry;
  readonly loop: LoopEnd;
  readonly presentation: Presentation;
  readonly turns: WeakMap<object, AgentTurn>;
}

/**
 * The tools of a registry for an `Agent` of `@openai/agents`. Results are text, images and files; a failed call is a text
 * that begins with `Error:`. When the run ends, `run()` rejects with its `CancelledError` or `DeadlineExceededError` at the
 * end of the turn; under a `toolUseBehavior` of the application's own with the SDK's `ToolCallError`, whose `error` it is.
 * Hand `run.signal` to `run()` as `signal` as well, so that it also ends the model's turn; a streamed run then ends as if it
 * were done, and `run.check()` tells why.
 * @throws ConfigurationError for a missing `tool`, an unknown option or a value of the wrong type
 */
export function openaiAgentsTools<TContext = unknown>(
  registry: ToolRegistry,
  options: OpenAIAgentsToolOptions,
): Tool<TContext>[] {
  const checked = checkOptions(optionsSchema, options ?? {}, { where: 'openaiAgentsTools' });
  const { media, limits, onExecution, strict, maxDescriptionLength = MAX_DESCRIPTION_LENGTH } = checked;
  const { binding } = registry;
  const parts: AgentToolParts = {
    registry,
    loop: new LoopEnd(binding),
    presentation: { binding, media: media === 'note' ? NO_MEDIA : OPENAI_MEDIA, options: { limits, onExecution } },
    turns: new WeakMap(),
  };
  return registry.specifications.map((specification) => {
    const fitted = fitTool(specification, { maxDescriptionLength });
    const isStrict = strict === 'where-fit' && fitsStrictMode(fitted.inputSchema);
    const made = options.tool<Parameters, TContext>({
      name: fitted.name,
      description: fitted.description,
      parameters: fitted.inputSchema as unknown as Parameters,
      strict: false,
      // The SDK's own would tell the model of everything that is thrown.
      errorFunction: null,
      isEnabled: ({ runContext, agent }) => beginTurn(parts, runContext, agent),
      execute: (input, runContext, details) => execute(fitted, parts, { input, runContext, details }),
    });
    // The SDK would change a name with a hyphen.
    return { ...made, name: fitted.name, strict: isStrict };
  });
}

/** The SDK asks before each turn of the model whether a tool is enabled, outside of what it catches. */
function beginTurn({ loop, presentation, turns }: AgentToolParts, runContext: object, agent: ToolUser): true {
  loop.check();
  const { toolUseBehavior = 'run_llm_again' } = agent;
  turns.set(runContext, { limits: new Turn(presentation), asksModelAgain: toolUseBehavior === 'run_llm_again' });
  return true;
}

interface AgentCall {
  readonly input: unknown;
  readonly runContext: object | undefined;
  readonly details: CallDetails | undefined;
}

async function execute(
  { name }: FittedTool,
  { registry, loop, presentation, turns }: AgentToolParts,
  { input, runContext, details }: AgentCall,
): Promise<AgentsToolOutput> {
  const signal = details?.signal;
  const turn = runContext && turns.get(runContext);
  const presenting = { ...presentation, options: { ...presentation.options, signal } };
  try {
    const { callId: id = '', status } = details?.toolCall ?? {};
    const call = { id, name, input, isCutOff: status === 'incomplete' };
    const answered = await answer(registry, call, presenting.options);
    return agentsToolOutput(await presentResult(answered, presenting, turn?.limits));
  } catch (error) {
    // The SDK itself ends what its own signal has aborted, and knows it by the signal's reason.
    if (signal?.aborted) throw signal.reason;
    loop.note(error);
    // What is thrown here comes out of `run()` as an error of the SDK; what `isEnabled` throws, as it is.
    if (turn?.asksModelAgain) return 'The run has ended.';
    throw error;
  }
}
