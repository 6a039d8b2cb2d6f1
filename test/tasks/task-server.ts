import {
  startRawHttp,
  text,
  tool,
  type HttpHandler,
  type JsonObject,
  type RawHttpScript,
  type RawHttpServer,
} from '../servers';

/** What a server announces that carries out calls as tasks. */
export const TASK_CAPABILITIES = { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } };

/** A tool that has to be called as a task. */
export const LONG = tool('long', { execution: { taskSupport: 'required' } });

/** A task as a server describes it; it is to be looked at again very soon. */
export function task(status: string, extra: JsonObject = {}): JsonObject {
  const at = '2026-01-01T00:00:00Z';
  return { taskId: 'task-1', status, createdAt: at, lastUpdatedAt: at, ttl: null, pollInterval: 1, ...extra };
}

/** How a server carries out its tasks; what is left out is polite: the task is completed at the first look. */
export interface TaskScript {
  /** The status by the number of the look, from 1. */
  readonly status?: (look: number) => string | JsonObject;
  /** Answers `tasks/result`; by default with the text `done`. */
  readonly result?: HttpHandler;
  readonly on?: Record<string, HttpHandler>;
  readonly script?: RawHttpScript;
}

/** A server whose tool `long` is a task. */
export async function taskServer({ status, result, on, script }: TaskScript = {}): Promise<RawHttpServer> {
  let looks = 0;
  return startRawHttp({
    tools: [LONG],
    initialize: { capabilities: TASK_CAPABILITIES },
    call: () => ({ task: task('working') }),
    ...script,
    on: {
      'tasks/get': (exchange) => {
        const seen = status?.((looks += 1)) ?? 'completed';
        exchange.json(typeof seen === 'string' ? task(seen) : seen);
      },
      'tasks/result': result ?? ((exchange) => exchange.json(text('done'))),
      'tasks/cancel': (exchange) => exchange.json(task('cancelled')),
      ...on,
    },
  });
}

/** The methods of the requests that a server received, those of connecting and closing left out. */
export function taskRequests(server: RawHttpServer): string[] {
  return server.requests
    .map(({ method }) => method)
    .filter((method) => /^tasks\/|^tools\/call|cancelled$/.test(method));
}
