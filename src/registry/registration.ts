import { callOperation } from '../mcp/operation';
import { execute, type Callee } from '../tool/execute';
import type { ToolExecution } from '../tool/execution';
import type { ExecuteOptions, Tool, ToolSpecification } from '../tool/tool';
import type { ToolBinding } from '../tool/tool-binding';
import { instantiate, type Candidate } from './candidate';

/** A tool of a registry: one that a toolset offers is made when it is first needed, every other one at once. */
export class Registration {
  private made: Tool | undefined;

  /** @throws what making the tool throws */
  constructor(
    readonly candidate: Candidate,
    private readonly binding: ToolBinding,
  ) {
    if (!candidate.offered) this.made = instantiate(candidate, binding);
  }

  /** The tool; always the same one. */
  get tool(): Tool {
    this.made ??= instantiate(this.candidate, this.binding);
    return this.made;
  }

  /** What a model is told about the tool. */
  get specification(): ToolSpecification {
    const offered = this.made ? undefined : this.candidate.offered;
    return offered ? offered.specification : this.tool.specification;
  }

  /**
   * Carries a call out. A tool that nobody has is not made for it: a class and an instance take some 20 µs.
   * @throws what `Tool#execute` throws
   */
  execute(input: unknown, { callId, signal }: Pick<ExecuteOptions, 'callId' | 'signal'>): Promise<ToolExecution> {
    const { binding } = this;
    const { offered } = this.candidate;
    if (this.made || !offered || offered.mayBeChanged) return this.tool.execute(input, { callId, signal, binding });
    const operation = offered.operationFor(binding);
    const carryOut: Callee['carryOut'] = (checked, call) => callOperation(operation, checked, call);
    return execute({ input, binding, callId, signal, carryOut });
  }

  /** The tool, if the registry made it and has to close it. */
  get ownTool(): Tool | undefined {
    return this.candidate.instance ? undefined : this.made;
  }
}
