import type { ToolSet } from 'ai';
import { z } from 'zod/v4';
import { ToolError } from '../../errors';
import { checkOptions } from '../../options';
import type { ToolRegistry } from '../../registry/tool-registry';
import { answer } from '../presentation/answer-calls';
import { fitTool, type FittedTool } from '../presentation/fit-tool';
import { ANTHROPIC_MEDIA, NO_MEDIA } from '../presentation/known-media';
import { presentationOptions, type PresentationOptions } from '../presentation/limits';
import { LoopEnd } from '../presentation/loop-end';
import { PARAMETER_NAMES } from '../presentation/parameter-names';
import { presentResult, Turn, type Presentation } from '../presentation/present';
import { textOf, type PresentedResult } from '../presentation/presented-result';
import { fitsStrictMode } from '../presentation/strict-fit';
import { MAX_DESCRIPTION_LENGTH, toolOptions } from '../presentation/tool-options';
import { toModelOutput, toolOutput, type AiSdkToolOutput } from './model-output';
import { modelSchema } from './model-schema';

/** How tools and their results are presented to the models behind the AI SDK. */
export interface AiSdkToolOptions extends Pick<PresentationOptions, 'limits' | 'onExecution'> {
  /**
   * `'content'`: images and PDFs are shown to the model. `'note'`: they are not, for models without vision and for
   * providers that send the parts of a result as text, as OpenAI's Chat Completions do. Default `'content'`.
   */
  readonly media?: 'content' | 'note' | undefined;
  /**
   * `'where-fit'`: strict mode for each tool whose schema fits it as it stands (every object closed, every property
   * required, nothing but supported keywords). Default `false`: for none. Version 5 of the SDK knows no strict tools.
   */
  readonly strict?: false | 'where-fit' | undefined;
  /** Characters of a description, before it is cut. Default 1,024, which is the most that some models take. */
  readonly maxDescriptionLength?: number | undefined;
}

const { limits, onExecution } = presentationOptions;

const optionsSchema = z.strictObject({
  limits,
  onExecution,
  media: z.enum(['content', 'note']).optional(),
  ...toolOptions,
});

/** What the SDK hands to a tool with its input. */
interface ExecutionOptions {
  readonly toolCallId: string;
  /** What the model was sent in this step: one array for all its calls. */
  readonly messages: readonly unknown[];
  readonly abortSignal?: AbortSignal | undefined;
}

/** What the tools of one set have in common. */
interface ToolSetParts {
  readonly registry: ToolRegistry;
  readonly loop: LoopEnd;
  readonly presentation: Presentation;
  readonly turns: WeakMap<readonly unknown[], Turn>;
}

/**
 * The tools of a registry for `generateText`, `streamText` and agents of the AI SDK, version 5 and later. A failed call is
 * a `tool-error` whose message the model reads; the `output` of any other is an `AiSdkToolOutput`. When the run ends, the
 * next step does not begin: `generateText` rejects with the `CancelledError` or `DeadlineExceededError`, `streamText` has
 * it as the `error` of its stream. Hand `run.signal` to it as `abortSignal` as well, so that it also ends the model's turn;
 * a stream then ends quietly (`onAbort`), and `run.check()` tells why.
 * @throws ConfigurationError for an unknown option or a value of the wrong type
 */
export function aiSdkTools(registry: ToolRegistry, options: AiSdkToolOptions = {}): ToolSet {
  const checked = checkOptions(optionsSchema, options, { where: 'aiSdkTools' });
  const { media, strict, maxDescriptionLength = MAX_DESCRIPTION_LENGTH, ...others } = checked;
  const { binding } = registry;
  // Of what the models behind the SDK take of bytes and pixels, this is the least.
  const shown = media === 'note' ? NO_MEDIA : ANTHROPIC_MEDIA;
  const parts: ToolSetParts = {
    registry,
    loop: new LoopEnd(binding),
    presentation: { binding, media: shown, options: others },
    turns: new WeakMap(),
  };
  // Without a prototype, so that a model that calls `constructor` calls an unknown tool.
  const tools = Object.create(null) as ToolSet;
  for (const specification of registry.specifications) {
    const fitted = fitTool(specification, { maxDescriptionLength, parameterNames: PARAMETER_NAMES });
    const isStrict = strict === 'where-fit' && fitsStrictMode(fitted.inputSchema);
    tools[fitted.name] = { ...tool(fitted, parts), strict: isStrict };
  }
  return tools;
}

function tool(fitted: FittedTool, parts: ToolSetParts): ToolSet[string] {
  const { description, inputSchema } = fitted;
  return {
    type: 'dynamic',
    description,
    inputSchema: modelSchema(inputSchema, () => parts.loop.check()),
    execute: (input: unknown, options: ExecutionOptions) => execute(fitted, parts, { input, ...options }),
    toModelOutput,
  };
}

async function execute(
  { name, restore }: FittedTool,
  { registry, loop, presentation, turns }: ToolSetParts,
  { input, toolCallId: id, messages, abortSignal: signal }: ExecutionOptions & { readonly input: unknown },
): Promise<AiSdkToolOutput> {
  const presenting = { ...presentation, options: { ...presentation.options, signal } };
  const turn = turns.get(messages) ?? new Turn(presenting);
  turns.set(messages, turn);
  const carryOut = async (): Promise<PresentedResult & { readonly cause: unknown }> => {
    const answering = { ...presenting.options, restore: (_: string, written: unknown) => restore(written) };
    const answered = await answer(registry, { id, name, input }, answering);
    return { ...(await presentResult(answered, presenting, turn)), cause: answered.execution.error };
  };
  const { isError, parts, cause } = await carryOut().catch((error: unknown) => {
    // The SDK itself ends what its own signal has aborted.
    if (!signal?.aborted) loop.note(error);
    throw error;
  });
  if (isError) throw new ToolError(textOf(parts), { cause });
  return toolOutput(parts);
}
