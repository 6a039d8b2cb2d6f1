import type { ToolBinding } from '../tool/tool-binding';
import type { McpToolDefinition } from '../toolset/callbacks';
import type { Claim } from './exchange';
import type { Patience } from './patience';

/** The call of a tool, as what belongs to it is told. */
export interface CallDescription {
  readonly mcpTool: McpToolDefinition;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly callId: string | undefined;
  readonly binding: ToolBinding;
}

/** A call that waits for its reply. */
export interface ActiveCall extends CallDescription {
  readonly wait: Patience;
}

/** The calls of one connection that wait for their replies. */
export class ActiveCalls {
  private readonly calls = new Map<Claim, ActiveCall>();

  add(claim: Claim, call: ActiveCall): void {
    this.calls.set(claim, call);
  }

  delete(claim: Claim): void {
    this.calls.delete(claim);
  }

  /** The call that a message belongs to: that of the request on whose stream it came, or the only one that there is. */
  belonging(requestId: string | number | undefined): ActiveCall | undefined {
    if (requestId === undefined) return this.calls.size === 1 ? [...this.calls.values()][0] : undefined;
    return [...this.calls].find(([{ exchange }]) => exchange?.id === requestId)?.[1];
  }

  /** Lets the time of one call, or of all, stand still until the function that it returns is called. */
  pause(call: ActiveCall | undefined): () => void {
    const resume = (call ? [call] : [...this.calls.values()]).map(({ wait }) => wait.pause());
    return () => resume.forEach((undo) => undo());
  }
}
