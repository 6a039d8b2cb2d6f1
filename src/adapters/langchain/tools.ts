import type { StructuredToolInterface } from '@langchain/core/tools';
import type { StructuredToolInterface as StructuredToolOfEsModules } from '@langchain/core/tools' with {
  'resolution-mode': 'import',
};
import { z } from 'zod/v4';
import { checkOptions } from '../../options';
import type { ToolRegistry } from '../../registry/tool-registry';
import { fitTool } from '../presentation/fit-tool';
import { presentationOptions, type PresentationOptions } from '../presentation/limits';
import { PARAMETER_NAMES } from '../presentation/parameter-names';
import { MAX_DESCRIPTION_LENGTH, toolOptions } from '../presentation/tool-options';
import type { MediaForm } from './media-form';
import { RegistryTool } from './registry-tool';

/**
 * A tool as LangChain's functions take it, in CommonJS and in ES modules: LangChain declares its types twice, and neither
 * is assignable to the other.
 */
export type LangChainTool = StructuredToolInterface & StructuredToolOfEsModules;

/**
 * How tools are presented to LangChain. `limits` hold over the calls of one message together, as far as the node that
 * makes the calls shows the message; a tool that is called by itself is a turn of its own.
 */
export interface LangChainToolOptions extends Pick<PresentationOptions, 'limits' | 'onExecution'> {
  /**
   * How images and PDFs are put into a tool's message. Default: as the message that made the call names its provider;
   * where it names none, or one that takes none, `'note'`.
   */
  readonly media?: MediaForm | undefined;
  /** Characters of a description, before it is cut. Default 1,024, which is the most that some models take. */
  readonly maxDescriptionLength?: number | undefined;
}

const optionsSchema = z.strictObject({
  limits: presentationOptions.limits,
  onExecution: presentationOptions.onExecution,
  media: z.enum(['anthropic', 'bedrock-converse', 'openai-responses', 'note']).optional(),
  maxDescriptionLength: toolOptions.maxDescriptionLength,
});

/**
 * The tools of a registry for LangChain, in the order of registration: for `createAgent`, `ToolNode` or a model's
 * `bindTools`. A tool answers a call with a `ToolMessage` whose `artifact` is the `ToolExecution`; the message of a failed
 * call has the status `error`. Only the end of the run, or of the call's own signal, is thrown (`CancelledError`,
 * `DeadlineExceededError`): it ends an agent that knows the run's signal (`createAgent({ signal: run.signal, … })`), and a
 * `ToolNode` with `handleToolErrors: false`.
 * @throws ConfigurationError for an unknown option or a value of the wrong type
 */
export function langchainTools(registry: ToolRegistry, options: LangChainToolOptions = {}): LangChainTool[] {
  const {
    media,
    limits,
    onExecution,
    maxDescriptionLength = MAX_DESCRIPTION_LENGTH,
  } = checkOptions(optionsSchema, options, {
    where: 'langchainTools',
  });
  const rules = { maxDescriptionLength, parameterNames: PARAMETER_NAMES };
  const means = { registry, media, options: { limits, onExecution }, turns: new WeakMap() };
  return registry.specifications.map((specification) => {
    const tool = new RegistryTool(fitTool(specification, rules), means);
    return tool as StructuredToolInterface as LangChainTool;
  });
}
