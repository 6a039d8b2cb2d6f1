import { setTimeout as delay } from 'node:timers/promises';
import { ToolError } from '../errors';
import { LONGEST_TIMER } from '../options';
import { Interruption } from '../run/abort';
import type { TimedRequest, ReopeningLink } from './reopening-link';
import type { RawResult } from './reply';
import { NOT_NEEDED } from './exchange';
import { hasEnded, readTask, type CreatedTask, type Task } from './task';

/** A task that a server carries out (MCP specification, Tasks), from when it was made to its result. */
export class RunningTask {
  private readonly taskId: string;
  private latest: Task;
  private readonly scope: Interruption;

  /**
   * `request` is the call that the task was made of.
   * @throws ProtocolError for a status that the protocol does not know
   */
  constructor(
    private readonly link: ReopeningLink,
    private readonly request: TimedRequest,
    task: CreatedTask,
  ) {
    this.taskId = task.taskId;
    this.latest = readTask(task.description, request.subject);
    this.scope = new Interruption([request.wait]);
    if (request.call) request.call.taskId = task.taskId;
  }

  /**
   * Waits for the end of the task, and for what the call would have resulted in without one.
   * @throws as a call does
   */
  async result(): Promise<RawResult> {
    try {
      await this.watch(({ status }) => status !== 'working');
      // What the task needs of the client comes while its result is asked for, which may be long before its end; that it
      // is seen to be alive keeps the time of the call from running out.
      void this.watch(hasEnded).catch(() => undefined);
      return await this.ask('tasks/result');
    } catch (error) {
      throw ToolError.is(error) ? await this.explained(error) : error;
    } finally {
      this.scope.end(NOT_NEEDED);
    }
  }

  private async watch(until: (task: Task) => boolean): Promise<void> {
    while (!until(this.latest)) {
      await this.pause(this.latest.pollInterval);
      await this.look();
    }
  }

  private async look(): Promise<void> {
    this.latest = readTask(await this.ask('tasks/get'), this.request.subject);
    this.request.wait.restart();
  }

  /** Nothing is expected of the server meanwhile, so the time of the call stands still. */
  private async pause(milliseconds: number): Promise<void> {
    const resume = this.request.wait.pause();
    const { signal } = this.scope;
    try {
      await delay(Math.min(milliseconds, this.link.timeout, LONGEST_TIMER), undefined, { signal });
    } catch {
      signal.throwIfAborted();
    } finally {
      resume();
    }
  }

  private async ask(method: 'tasks/get' | 'tasks/result'): Promise<RawResult> {
    const { subject, wait, call } = this.request;
    return this.link.request({
      method,
      params: { taskId: this.taskId },
      subject: { ...subject, method, phase: 'after' },
      wait,
      until: this.scope,
      call,
    });
  }

  /** A server may have nothing to say of a task that failed beside what it says of its status. */
  private async explained(error: ToolError): Promise<ToolError> {
    if (!hasEnded(this.latest)) await this.look().catch(() => undefined);
    const { status, statusMessage } = this.latest;
    if (statusMessage === '' || !(status === 'failed' || status === 'cancelled')) return error;
    const message = `The task ${status === 'failed' ? 'failed' : 'was cancelled'}: ${this.link.redact(statusMessage)}`;
    return new ToolError(message, { toolset: error.toolset, cause: error });
  }
}
