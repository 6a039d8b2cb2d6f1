import { ToolError } from '../errors';
import { Interruption, untilAborted } from '../run/abort';
import type { TaskOptions } from '../toolset/options';
import { boundedWait } from './bounded-wait';
import type { TimedRequest, ReopeningLink } from './reopening-link';
import type { RawResult } from './reply';
import { RunningTask } from './running-task';
import { createdTask, type CreatedTask } from './task';

/** Milliseconds that the server has to hear that a task is not needed any more. */
const PARTING_BOUND = 2_000;

/** What a call needs to become a task. */
export interface TaskCallParts {
  readonly link: ReopeningLink;
  /** The call. */
  readonly request: TimedRequest;
  readonly options: TaskOptions;
}

/** A call that its server carries out as a task (MCP specification, Tasks); whoever waits for it sees a call. */
export class TaskCall {
  /** The result of the call. Rejects as a call does; where the task may still go on, it is cancelled then. */
  readonly result: Promise<RawResult>;
  /** Resolves when nothing is left of the call, not even what the server has to be told. */
  readonly ended: Promise<void>;

  private parting: Promise<void> | undefined;

  constructor(private readonly parts: TaskCallParts) {
    this.result = this.carriedOut();
    this.ended = this.result.then(
      () => undefined,
      () => this.parting,
    );
  }

  private async carriedOut(): Promise<RawResult> {
    const { link, request } = this.parts;
    const reply = await this.created();
    let task: CreatedTask | undefined;
    try {
      task = createdTask(reply, request.subject);
      return task ? await new RunningTask(link, request, task).result() : reply;
    } catch (error) {
      // With a ToolError, the server says how the task has ended.
      if (!ToolError.is(error)) this.part(Promise.resolve(task));
      throw error;
    }
  }

  /** Has the task made. A call that is given up meanwhile still learns which task it has to cancel. */
  private async created(): Promise<RawResult> {
    const { link, request, options } = this.parts;
    const { wait } = request;
    const grace = new Interruption();
    const params = { ...request.params, task: options.ttl === undefined ? {} : { ttl: options.ttl } };
    const creating = link.request({ ...request, params, until: grace });
    try {
      return await untilAborted(creating, wait);
    } catch (error) {
      if (wait.aborted)
        this.part(
          creating.then((reply) => createdTask(reply, request.subject)),
          grace,
        );
      throw error;
    }
  }

  /** Cancels a task, in bounded time (MCP specification, Tasks, task cancellation). */
  private part(made: Promise<CreatedTask | undefined>, grace = new Interruption()): void {
    const { link, request } = this.parts;
    link.taint();
    const cancelled = made.then(async (task) => {
      const { toolset } = request.subject;
      const method = 'tasks/cancel';
      if (!task) return;
      const cancel = { method, params: { taskId: task.taskId }, subject: { toolset, method } };
      await link.request({ ...cancel, wait: request.wait, until: grace });
    });
    this.parting = boundedWait(PARTING_BOUND, cancelled)
      .catch(() => undefined)
      .finally(() => grace.end());
  }
}
