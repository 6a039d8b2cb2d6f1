import { ProtocolError } from '../errors';
import type { McpToolDefinition } from '../toolset/callbacks';
import type { TaskOptions } from '../toolset/options';
import { describe, type RequestSubject } from './failures';
import type { RawResult } from './reply';

/** Milliseconds between two looks at a task: where the server names none, and the least whatever it names. */
const POLL_INTERVAL = 1_000;
const LEAST_POLL_INTERVAL = 100;

const STATUSES: readonly unknown[] = ['working', 'input_required', 'completed', 'failed', 'cancelled'];

/** What a server says of a task (MCP specification, Tasks, data types). */
export interface Task {
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  /** What else it says of the status. */
  readonly statusMessage: string;
  /** Milliseconds until it is to be asked again. */
  readonly pollInterval: number;
}

/** A task that was made of a call, and how its server describes it. */
export interface CreatedTask {
  readonly taskId: string;
  readonly description: object;
}

/** Whether a tool is to be called as a task, if its server can do so: where it must, or where it may and is wanted. */
export function wantsTask({ execution }: McpToolDefinition, options: TaskOptions): boolean {
  const { taskSupport } = Object(execution) as { taskSupport?: unknown };
  return taskSupport === 'required' || (taskSupport === 'optional' && options.optional === true);
}

/** The task that a server has made of a call, which it may have carried out at once all the same. */
export function createdTask(reply: RawResult, subject: RequestSubject): CreatedTask | undefined {
  const { task, content, structuredContent } = reply;
  const hasContent = Array.isArray(content) ? content.length > 0 : content !== undefined && content !== null;
  if (typeof task !== 'object' || task === null || hasContent || structuredContent !== undefined) return undefined;
  const { taskId } = task as { taskId?: unknown };
  if (typeof taskId !== 'string' || taskId === '') throw misdescribed('its task has no id', subject);
  return { taskId, description: task };
}

/**
 * A task as its server describes it.
 * @throws ProtocolError for a status that the protocol does not know
 */
export function readTask(description: object, subject: RequestSubject): Task {
  const { status, statusMessage, pollInterval } = description as Record<string, unknown>;
  if (!STATUSES.includes(status)) throw misdescribed(`its task has the status ${JSON.stringify(status)}`, subject);
  return {
    status: status as Task['status'],
    statusMessage: typeof statusMessage === 'string' ? statusMessage : '',
    pollInterval: Number.isFinite(pollInterval) ? Math.max(pollInterval as number, LEAST_POLL_INTERVAL) : POLL_INTERVAL,
  };
}

/** Whether a task will not change any more. */
export function hasEnded({ status }: Task): boolean {
  return status !== 'working' && status !== 'input_required';
}

function misdescribed(fault: string, subject: RequestSubject): ProtocolError {
  return new ProtocolError(`${describe(subject)}: ${fault}, which the protocol does not allow.`, {
    toolset: subject.toolset,
    outcome: 'unknown',
  });
}
