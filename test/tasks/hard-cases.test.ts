import { getEventListeners } from 'node:events';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { ElicitationRequest, HandlerContext, UnconnectedClient } from 'mcp-toolset';
import { closeRunsAfterEach, factoryToolset, registered, startRun, toolsetFor } from '../contract/live-run';
import { form, scene } from '../handlers/asking';
import { closeServersAfterEach, rawStdio, tool } from '../servers';
import { LONG, task, taskRequests, TASK_CAPABILITIES, taskServer } from './task-server';

closeServersAfterEach();
closeRunsAfterEach();

it('looking at a task leaves no listener behind, however often it is looked at', async () => {
  const server = await taskServer({ status: (look) => (look < 12 ? 'working' : 'completed') });
  const counts: number[] = [];
  class Counting extends Client {
    override request: Client['request'] = (request, schema, options) => {
      if (request.method === 'tasks/get' && options?.signal) {
        counts.push(getEventListeners(options.signal, 'abort').length);
      }
      return super.request(request, schema, options);
    };
  }
  const create = (): UnconnectedClient => ({
    client: new Counting({ name: 'application', version: '1' }),
    transport: new StreamableHTTPClientTransport(new URL(String((server.connection as { url: unknown }).url))),
  });
  const registry = await registered(startRun(), factoryToolset(create));
  expect(await registry.execute({ name: 'long' })).toMatchObject({ content: 'done' });
  expect(Math.max(...counts)).toBeLessThanOrEqual(1);
});

it('a time above the longest one of a timer does not make the looks at a task follow at once', async () => {
  const server = await taskServer({
    status: () => task('working', { pollInterval: 2 ** 40 }),
    script: {
      call: () => ({ task: task('working', { pollInterval: 2 ** 40 }) }),
    },
  });
  const run = startRun();
  const registry = await registered(run, toolsetFor(server.connection, { timeout: 2 ** 40 }));
  const call = registry.execute({ name: 'long' }).catch(() => undefined);
  await server.waitFor('tools/call');
  await new Promise((resolve) => setTimeout(resolve, 500));
  const looks = server.requests.filter(({ method }) => method === 'tasks/get').length;
  run.cancel();
  await call;
  expect(looks).toBe(0);
});

it('what a task asks for that was given up belongs to no other call', async () => {
  const server = await rawStdio({
    tools: [LONG, tool('other')],
    initialize: { capabilities: TASK_CAPABILITIES },
    data: {
      task: task('working'),
      related: { ...form({}), _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'task-1' } } },
      other: 0,
    },
    call: ({ name }, { id, data, request }) => {
      if (name === 'long') return { task: data.task };
      data.other = id as number;
      request('ask', 'elicitation/create', data.related);
    },
    on: {
      'tasks/get': ({ id, data, reply }) => reply(id, data.task),
      'tasks/cancel': ({ id, data, reply }) => reply(id, data.task),
      response: ({ data, reply }) => reply(data.other, { content: [] }),
    },
  });
  const seen: unknown[] = [];
  const elicit = (_request: ElicitationRequest, { mcpTool, callId }: HandlerContext) => {
    seen.push([mcpTool?.name, callId]);
    return { action: 'accept' as const };
  };
  const { registry } = await scene(server, { elicit }, { calls: 'overlapping' });
  const own = new AbortController();
  const long = registry.execute({ id: 'first', name: 'long' }, { signal: own.signal }).catch(() => undefined);
  await server.waitFor('tasks/get');
  own.abort();
  await long;
  await server.waitFor('tasks/cancel');
  await registry.execute({ id: 'second', name: 'other' });
  expect(seen).toEqual([[undefined, undefined]]);
});

it('a run that has ended builds no client to cancel a task of a session that is lost', async () => {
  let built = 0;
  const server = await taskServer({ status: () => 'working' });
  const create = (): UnconnectedClient => {
    built += 1;
    return {
      client: new Client({ name: 'application', version: '1' }),
      transport: new StreamableHTTPClientTransport(new URL(String((server.connection as { url: unknown }).url))),
    };
  };
  const run = startRun();
  const registry = await registered(run, factoryToolset(create));
  const call = registry.execute({ name: 'long' }).catch(() => undefined);
  await server.waitFor('tasks/get');
  server.forgetSessions();
  run.cancel();
  await call;
  await run.close();
  expect(built).toBe(1);
});

it('a task with an empty content beside it is a task', async () => {
  const server = await taskServer({ script: { call: () => ({ task: task('working'), content: [] }) } });
  const registry = await registered(startRun(), toolsetFor(server.connection));
  expect(await registry.execute({ name: 'long' })).toMatchObject({ content: 'done' });
});

it('a task that was made with a status that the protocol does not know is cancelled', async () => {
  const server = await taskServer({ script: { call: () => ({ task: task('submitted') }) } });
  const run = startRun();
  const registry = await registered(run, toolsetFor(server.connection));
  expect(await registry.execute({ name: 'long' })).toMatchObject({ error: { code: 'protocol_error' } });
  await run.close();
  expect(taskRequests(server)).toEqual(['tools/call', 'tasks/cancel']);
});
