import type { Tool } from '@anthropic-ai/sdk/resources/messages';
import type { ToolRegistry } from '../../registry/tool-registry';
import { fitTool, type FittedTool } from '../presentation/fit-tool';
import type { ToolSpecification } from '../../tool/tool';

/** The names of parameters that the Messages API takes at the root of an `input_schema`. */
const PARAMETER_NAMES = /^[a-zA-Z0-9_.-]{1,64}$/;

/** A tool as the Messages API takes it. */
export function fitted(specification: ToolSpecification): FittedTool {
  return fitTool(specification, { parameterNames: PARAMETER_NAMES });
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
