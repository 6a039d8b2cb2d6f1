import type { ToolBinding } from '../tool/tool-binding';
import type { McpToolDefinition } from '../toolset/callbacks';
import type { Patience } from './patience';

/** The call of a tool, as what belongs to it is told. */
export interface CallDescription {
  readonly mcpTool: McpToolDefinition;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly callId: string | undefined;
  readonly binding: ToolBinding;
}

/** A call that waits for its result. */
export interface ActiveCall extends CallDescription {
  readonly wait: Patience;
  /** The task as which the server carries it out, where it does. */
  taskId?: string;
}

/** What a request has as long as it waits for its result. */
export interface ActiveRequest {
  /** By which the server tells of its progress. */
  readonly progressToken: string;
  /** Ends the waiting. */
  readonly end: () => void;
}

/** The calls of one session that wait for their results, and who hears of progress. */
export class ActiveCalls {
  private readonly calls = new Set<ActiveCall>();
  private readonly listeners = new Map<string, (progress: object) => void>();
  private latest = 0;

  /** Begins to wait for the result of a request, which may be a call. */
  begin(call: ActiveCall | undefined, onProgress: (progress: object) => void): ActiveRequest {
    // No number: the client's own tokens are numbers.
    const progressToken = `p${(this.latest += 1)}`;
    this.listeners.set(progressToken, onProgress);
    if (call) this.calls.add(call);
    const end = (): void => {
      this.listeners.delete(progressToken);
      if (call) this.calls.delete(call);
    };
    return { progressToken, end };
  }

  /** Tells of progress (MCP specification, Progress); false where nobody waits for it, or it is none. */
  progress(params: object): boolean {
    const { progressToken, ...progress } = params as { progressToken?: unknown; progress?: unknown };
    const listener = this.listeners.get(progressToken as string);
    if (!listener || typeof progress.progress !== 'number') return false;
    listener(progress);
    return true;
  }

  /** Whether no request waits for its result. */
  get isEmpty(): boolean {
    return this.listeners.size === 0;
  }

  /** The call that is carried out as a task. */
  ofTask(taskId: unknown): ActiveCall | undefined {
    return taskId === undefined ? undefined : [...this.calls].find((call) => call.taskId === taskId);
  }

  /** The only call, where there is only one. */
  only(): ActiveCall | undefined {
    return this.calls.size === 1 ? this.calls.values().next().value : undefined;
  }

  /** Lets the time of one call, or of all, stand still until the function that it returns is called. */
  pause(call: ActiveCall | undefined): () => void {
    const resume = (call ? [call] : [...this.calls]).map(({ wait }) => wait.pause());
    return () => resume.forEach((undo) => undo());
  }
}
