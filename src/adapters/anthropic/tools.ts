import type { Tool } from '@anthropic-ai/sdk/resources/messages';
import type { ToolRegistry } from '../../registry/tool-registry';
import { fitTool, type FittedTool } from '../presentation/fit-tool';
import { PARAMETER_NAMES } from '../presentation/parameter-names';
import type { ToolSpecification } from '../../tool/tool';

/** How inputs are turned back, by the schema that they are for: a call need not have it presented anew. */
const restores = new WeakMap<object, FittedTool['restore']>();

/** A tool as the Messages API takes it. */
function fitted(specification: ToolSpecification): FittedTool {
  const tool = fitTool(specification, { parameterNames: PARAMETER_NAMES });
  restores.set(specification.inputSchema, tool.restore);
  return tool;
}

/** The input that a tool is given for what the model wrote. */
export function restored(specification: ToolSpecification, input: unknown): unknown {
  const restore = restores.get(specification.inputSchema) ?? fitted(specification).restore;
  return restore(input);
}

/**
 * The tools of a registry for the `tools` of a Messages request, in the order of registration. Each call makes new
 * objects, to which fields such as `cache_control` can be added.
 */
export function anthropicTools(registry: ToolRegistry): Tool[] {
  return registry.specifications.map((specification) => {
    const { name, description, inputSchema } = fitted(specification);
    return { name, description, input_schema: { ...inputSchema } };
  });
}
