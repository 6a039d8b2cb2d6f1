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
export interface ActiveCall {
  readonly description: CallDescription;
  readonly wait: Patience;
  /** The task as which the server carries it out, where it does. */
  taskId?: string;
}

/** What a request has as long as it waits for its result. */
export interface ActiveRequest {
  /** By which the server tells of its progress. */
  readonly progressToken: string;
  /** The call that it is. */
  readonly call: ActiveCall | undefined;
  readonly onProgress: (progress: object) => void;
}

/** The calls of one session that wait for their results, and who hears of progress. */
export class ActiveCalls {
  /** Few at a time, for which an array is cheaper than a map that grows and shrinks with each. */
  private readonly requests: ActiveRequest[] = [];
  private latest = 0;

  /** Begins to wait for the result of a request, which may be a call. */
  begin(call: ActiveCall | undefined, onProgress: (progress: object) => void): ActiveRequest {
    // No number: the client's own tokens are numbers.
    const request = { progressToken: `p${(this.latest += 1)}`, call, onProgress };
    this.requests.push(request);
    return request;
  }

  /** Counterpart of `begin`. */
  end(request: ActiveRequest): void {
    const index = this.requests.indexOf(request);
    if (index >= 0) this.requests.splice(index, 1);
  }

  /**
   * Tells of progress (MCP specification, Progress), a turn later, as the client takes other notifications: they are told in
   * the order in which they came. Returns false where nobody waits for it, or it is none.
   */
  progress(params: object): boolean {
    const { progressToken, ...progress } = params as { progressToken?: unknown; progress?: unknown };
    const request = this.requests.find((active) => active.progressToken === progressToken);
    if (!request || typeof progress.progress !== 'number') return false;
    void Promise.resolve().then(() => request.onProgress(progress));
    return true;
  }

  /** Whether no request waits for its result. */
  get isEmpty(): boolean {
    return this.requests.length === 0;
  }

  /** The call that is carried out as a task. */
  ofTask(taskId: unknown): ActiveCall | undefined {
    return taskId === undefined ? undefined : this.calls().find((call) => call.taskId === taskId);
  }

  /** The only call, where there is only one. */
  only(): ActiveCall | undefined {
    const [first, ...others] = this.calls();
    return others.length === 0 ? first : undefined;
  }

  /** Lets the time of one call, or of all, stand still until the function that it returns is called. */
  pause(call: ActiveCall | undefined): () => void {
    const resume = (call ? [call] : this.calls()).map(({ wait }) => wait.pause());
    return () => resume.forEach((undo) => undo());
  }

  private calls(): ActiveCall[] {
    return this.requests.flatMap(({ call }) => call ?? []);
  }
}
