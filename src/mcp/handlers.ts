import { z } from 'zod/v4';
import { ConfigurationError, messageOf, ToolError } from '../errors';
import { Interruption, NEVER, untilAborted } from '../run/abort';
import { endOf } from '../run/run';
import type { Limits, Logger } from '../settings';
import { UNBOUND, type ToolBinding } from '../tool/tool-binding';
import type { ToolsetDefinition } from '../toolset/definition';
import type { HandlerContext } from '../toolset/handler-types';
import type { HandlerRole } from '../toolset/metadata';
import type { ActiveCall } from './active-calls';
import type { CatalogSource } from './catalog';
import { checkedAnswer } from './handler-answers';
import type { Link } from './link';
import { NotificationQueue } from './notification-queue';
import { callMethod } from './toolset-instance';

const INTERNAL_ERROR = -32603;

/** What the handlers of a toolset need to be called. */
export interface HandlerParts {
  readonly definition: ToolsetDefinition;
  /** The toolset's instance, whose methods they are. */
  readonly instance: object;
  readonly binding: ToolBinding;
  readonly catalog: Pick<CatalogSource, 'isShared' | 'drop'>;
  readonly limits: Limits;
  readonly logger: Logger;
}

/** Requests of a server, by the role that answers them, and the capability that the client announces for it. */
const REQUESTS = {
  onElicitation: { method: 'elicitation/create', capability: 'elicitation', features: { form: {}, url: {} } },
  onSampling: { method: 'sampling/createMessage', capability: 'sampling', features: { tools: {} } },
  listRoots: { method: 'roots/list', capability: 'roots', features: {} },
} as const;

const NOTIFICATIONS = { onLog: 'notifications/message', onToolsChanged: 'notifications/tools/list_changed' } as const;

type RequestRole = keyof typeof REQUESTS;

/** The decorated methods of a toolset's instance by which it answers its server. */
export class Handlers {
  private readonly queue: NotificationQueue;
  private answering = 0;
  private hasRefused = false;
  private isClosed = false;

  constructor(private parts: HandlerParts) {
    this.queue = new NotificationQueue(parts.definition.name, parts.logger);
  }

  /**
   * Gives a client that is not connected yet the handlers that exist, and the capabilities that follow from them. Those
   * of the run that it serves at the time are called: `current`.
   * @throws ConfigurationError when the application's client handles the same request or notification itself
   */
  attach(link: Link, current: () => Handlers): void {
    const { catalog, definition } = this.parts;
    const { handlers } = definition;
    for (const role of Object.keys(REQUESTS) as RequestRole[]) {
      if (handlers[role] !== undefined) this.attachRequest(link, role, current);
    }
    for (const [role, method] of Object.entries(NOTIFICATIONS) as [keyof typeof NOTIFICATIONS, string][]) {
      if (handlers[role] !== undefined) this.checkFree(link, role, method);
      else if (role !== 'onToolsChanged' || !catalog.isShared || link.handles(method)) continue;
      link.onNotification(messageSchema(method), (params) => {
        const { parts } = current();
        if (role === 'onToolsChanged') parts.catalog.drop();
        if (handlers[role] !== undefined) current().notify(role, params, link.callOfMessage(params));
      });
    }
  }

  /** Tells how far a call is. */
  progress(params: object, call: ActiveCall): void {
    if (this.parts.definition.handlers.onProgress !== undefined) this.notify('onProgress', params, call);
  }

  /** Delivers and answers nothing any more, and forgets the run. */
  close(): void {
    this.isClosed = true;
    const { isShared, drop } = this.parts.catalog;
    this.parts = { ...this.parts, instance: {}, binding: UNBOUND, catalog: { isShared, drop } };
    this.queue.close();
  }

  private attachRequest(link: Link, role: RequestRole, current: () => Handlers): void {
    const { method, capability, features } = REQUESTS[role];
    this.checkFree(link, role, method);
    link.announce(capability, features);
    link.onRequest(messageSchema(method), (params, signal) => current().answer(role, { params, signal, link }));
  }

  private checkFree(link: Link, role: HandlerRole, method: string): void {
    if (!link.handles(method)) return;
    const { name, handlers } = this.parts.definition;
    throw new ConfigurationError(
      `Toolset ${name}, method ${String(handlers[role])}: the client that the application built handles ${method} ` +
        'itself; keep one of the two.',
      { toolset: name },
    );
  }

  private async answer(
    role: RequestRole,
    { params, signal, link }: { readonly params: object; readonly signal: AbortSignal; readonly link: Link },
  ): Promise<object> {
    if (this.isClosed) throw unanswered();
    this.checkLoad(role);
    const call = link.callOfMessage(params);
    const resume = link.calls.pause(call);
    const ending = new Interruption([endOf(this.parts.binding.run), signal, call?.wait ?? NEVER]);
    try {
      ending.throwIfAborted();
      this.answering += 1;
      const answer = (async () => this.call(role, params, this.context(ending.signal, call)))();
      const ended = (): number => (this.answering -= 1);
      answer.then(ended, ended);
      const toolset = this.parts.definition.name;
      return checkedAnswer({ role, request: params, toolset }, await untilAborted(answer, ending));
    } catch (error) {
      throw this.disclosed(error, role, ending.aborted);
    } finally {
      ending.release();
      resume();
    }
  }

  /** A server that asks without end is refused, and one warning says so. */
  private checkLoad(role: RequestRole): void {
    const { definition, limits, logger } = this.parts;
    if (this.answering < limits.maxServerRequests) return;
    const method = REQUESTS[role].method;
    const where = `Toolset ${definition.name}: the server's ${method}`;
    if (!this.hasRefused)
      logger.warn(`${where} is refused: more than maxServerRequests (${limits.maxServerRequests}) at once.`);
    this.hasRefused = true;
    throw unanswered('The client answers too many requests already.');
  }

  private notify(role: HandlerRole, params: object, call: ActiveCall | undefined): void {
    const { run } = this.parts.binding;
    const context = (): HandlerContext => this.context(run?.signal ?? NEVER, call);
    this.queue.push(() => (endOf(run).aborted ? undefined : this.call(role, params, context())));
  }

  private call(role: HandlerRole, params: object, context: HandlerContext): unknown {
    const { instance, definition } = this.parts;
    const method = definition.handlers[role];
    return method === undefined ? undefined : callMethod(instance, method, params, context);
  }

  private context(signal: AbortSignal, call: ActiveCall | undefined): HandlerContext {
    if (!call) return { binding: this.parts.binding, signal };
    const { callId, ...described } = call.description;
    return { ...described, signal, ...(callId !== undefined && { callId }) };
  }

  /** The error that the server is told; the application's own reaches the log, unless nobody waits for an answer. */
  private disclosed(error: unknown, role: RequestRole, isOver: boolean): Error {
    const { definition, logger } = this.parts;
    const isForServer = ToolError.is(error);
    if (!isForServer && !isOver) {
      const where = `Toolset ${definition.name}, method ${String(definition.handlers[role])}`;
      logger.error(`${where}: the server's ${REQUESTS[role].method} is not answered: ${messageOf(error)}`, error);
    }
    return isForServer ? unanswered(error.message) : unanswered();
  }
}

/** The error by which a server is told that its request is not answered. */
function unanswered(message = 'The client could not answer the request.'): Error {
  return Object.assign(new Error(message), { code: INTERNAL_ERROR });
}

function messageSchema(method: string): z.ZodType {
  // By `custom`, the parameters stay the object that was received.
  const params = z.custom<object>((value) => typeof value === 'object' && value !== null && !Array.isArray(value));
  return z.object({ method: z.literal(method), params: params.optional() });
}
