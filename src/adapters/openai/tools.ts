import type { ChatCompletionFunctionTool } from 'openai/resources/chat/completions';
import type { FunctionTool } from 'openai/resources/responses/responses';
import { z } from 'zod/v4';
import { checkOptions } from '../../options';
import type { ToolRegistry } from '../../registry/tool-registry';
import { fitTool, type FittedTool } from '../presentation/fit-tool';
import { fitsStrictMode } from '../presentation/strict-fit';
import { MAX_DESCRIPTION_LENGTH, toolOptions } from '../presentation/tool-options';

/** How tools are presented to OpenAI's models. */
export interface OpenAIToolOptions {
  /**
   * `'where-fit'`: strict mode for each tool whose schema, as it is presented, fits it (every object closed, every property
   * required, nothing but supported keywords). Default `false`: for none.
   */
  readonly strict?: false | 'where-fit' | undefined;
  /** Characters of a description, before it is cut. Default 1,024, which is the most that some models take. */
  readonly maxDescriptionLength?: number | undefined;
}

const optionsSchema = z.strictObject(toolOptions);

/**
 * The tools of a registry for the `tools` of a Responses request, in the order of registration. `strict` is always said:
 * left out, the API takes it for true.
 * @throws ConfigurationError for an unknown option or a value of the wrong type
 */
export function openaiTools(registry: ToolRegistry, options: OpenAIToolOptions = {}): FunctionTool[] {
  return fittedTools(registry, options, 'openaiTools').map(({ name, description, inputSchema, strict }) => {
    return { type: 'function', name, description, parameters: { ...inputSchema }, strict };
  });
}

/**
 * The tools of a registry for the `tools` of a Chat Completions request, in the order of registration.
 * @throws ConfigurationError for an unknown option or a value of the wrong type
 */
export function openaiChatTools(registry: ToolRegistry, options: OpenAIToolOptions = {}): ChatCompletionFunctionTool[] {
  return fittedTools(registry, options, 'openaiChatTools').map(({ name, description, inputSchema, strict }) => {
    return { type: 'function', function: { name, description, parameters: { ...inputSchema }, strict } };
  });
}

function fittedTools(
  registry: ToolRegistry,
  options: OpenAIToolOptions,
  where: string,
): (FittedTool & { readonly strict: boolean })[] {
  const { strict, maxDescriptionLength = MAX_DESCRIPTION_LENGTH } = checkOptions(optionsSchema, options, { where });
  return registry.specifications.map((specification) => {
    const tool = fitTool(specification, { maxDescriptionLength });
    return { ...tool, strict: strict === 'where-fit' && fitsStrictMode(tool.inputSchema) };
  });
}
