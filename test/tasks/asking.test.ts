import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { ElicitationRequest, HandlerContext, ProgressNotification, UnconnectedClient } from 'mcp-toolset';
import { closeRunsAfterEach, gate } from '../contract/live-run';
import { form, replyTo, scene } from '../handlers/asking';
import { leapingClock, LIMIT } from '../leaping-clock';
import { closeServersAfterEach, rawStdio, text, tool } from '../servers';
import { LONG, task, TASK_CAPABILITIES, taskServer } from './task-server';

closeServersAfterEach();
closeRunsAfterEach();
const clock = leapingClock();

const RELATED = { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'task-1' } } };
const seenBy = ({ mcpTool, arguments: args, callId }: HandlerContext) => ({ tool: mcpTool?.name, args, callId });
const accept = { action: 'accept' as const };

it('progress is told by the token of the call, before and after the task was made', async () => {
  const heard = gate();
  const told: { progress: ProgressNotification; of: object }[] = [];
  const server = await taskServer({
    script: {
      call: (_params, exchange) =>
        void exchange
          .sse()
          .progress(1, 3)
          .reply({ task: task('input_required') })
          .end(),
    },
    status: () => 'working',
    result: async (exchange) => {
      const { progressToken } = await server.waitFor('tools/call');
      const stream = exchange.sse().notify('notifications/progress', { progressToken, progress: 2, message: 'half' });
      await heard.passed;
      stream.reply(text('done')).end();
    },
  });
  const progress = (params: ProgressNotification, context: HandlerContext): void => {
    told.push({ progress: params, of: seenBy(context) });
    if (params.progress === 2) heard.open();
  };
  const { registry } = await scene(server, { progress });
  expect(await registry.execute({ id: 'c', name: 'long', input: { q: 1 } })).toMatchObject({ content: 'done' });
  const of = { tool: 'long', args: { q: 1 }, callId: 'c' };
  expect(told).toEqual([
    { progress: { progress: 1, total: 3 }, of },
    { progress: { progress: 2, message: 'half' }, of },
  ]);
});

it('what the task asks for while its result is waited for belongs to its call', async () => {
  const server = await taskServer({
    status: (look) => (look === 1 ? 'input_required' : 'working'),
    result: async (exchange) => {
      const stream = exchange.sse().request('ask', 'elicitation/create', { ...form({}), ...RELATED });
      const { message } = await replyTo(server, 'ask');
      stream.reply(text(JSON.stringify(message))).end();
    },
  });
  const seen: object[] = [];
  const elicit = (_request: ElicitationRequest, context: HandlerContext) => {
    seen.push(seenBy(context));
    return accept;
  };
  const { registry } = await scene(server, { elicit });
  const { content } = await registry.execute({ id: 'c', name: 'long', input: { q: 1 } });
  expect(JSON.parse(content)).toMatchObject({ result: { action: 'accept' } });
  expect(seen).toEqual([{ tool: 'long', args: { q: 1 }, callId: 'c' }]);
});

it('what says which task it is of belongs to its call also where calls overlap and no stream says so', async () => {
  const server = await rawStdio({
    tools: [LONG, tool('other')],
    initialize: { capabilities: TASK_CAPABILITIES },
    data: { task: task('working'), done: task('completed'), related: RELATED, answered: false, other: 0 },
    call: ({ name }, { id, data }) => {
      if (name === 'long') return { task: data.task };
      data.other = id as number;
    },
    on: {
      'tasks/get': ({ id, data, reply, request }) => {
        if (!data.answered && data.other) request('ask', 'roots/list', data.related);
        reply(id, data.answered ? data.done : data.task);
      },
      'tasks/result': ({ id, reply }) => reply(id, { content: [] }),
      response: ({ data, reply }) => {
        data.answered = true;
        reply(data.other, { content: [] });
      },
    },
  });
  const seen: object[] = [];
  const roots = (_request: object, context: HandlerContext) => {
    seen.push(seenBy(context));
    return [];
  };
  const { registry } = await scene(server, { roots }, { calls: 'overlapping' });
  await Promise.all(['long', 'other'].map((name) => registry.execute({ id: name, name })));
  expect(seen[0]).toEqual({ tool: 'long', args: {}, callId: 'long' });
});

it('while a person thinks about what a task asks, its time stands still', async () => {
  const asked = gate();
  const server = await taskServer({
    on: { 'tasks/get': (exchange) => exchange.hang() },
    script: { call: () => ({ task: task('input_required') }) },
    result: async (exchange) => {
      const stream = exchange.sse().request('ask', 'elicitation/create', { ...form({}), ...RELATED });
      await replyTo(server, 'ask');
      stream.reply(text('done')).end();
    },
  });
  const elicit = async () => {
    asked.open();
    clock.leap(3 * LIMIT);
    return accept;
  };
  const { registry } = await scene(server, { elicit }, { timeout: LIMIT });
  expect(await registry.execute({ name: 'long' })).toMatchObject({ content: 'done' });
  await asked.passed;
});

it("the SDK's own server takes the cancelling", async () => {
  const store = new InMemoryTaskStore();
  const made = gate<string>();
  const create = async (): Promise<UnconnectedClient> => {
    const [transport, end] = InMemoryTransport.createLinkedPair();
    const server = new McpServer(
      { name: 'memory', version: '1' },
      { capabilities: TASK_CAPABILITIES, taskStore: store },
    );
    server.experimental.tasks.registerToolTask(
      'long',
      { execution: { taskSupport: 'required' } },
      {
        createTask: async ({ taskStore }) => {
          const created = await taskStore.createTask({ pollInterval: 1 });
          made.open(created.taskId);
          return { task: created };
        },
        getTask: ({ taskId, taskStore }) => taskStore.getTask(taskId),
        getTaskResult: async ({ taskId, taskStore }) => (await taskStore.getTaskResult(taskId)) as { content: [] },
      },
    );
    await server.connect(end);
    return { client: new Client({ name: 'application', version: '1' }), transport };
  };
  const { run, registry } = await scene({ create }, {});
  const call = registry.execute({ name: 'long' });
  const taskId = await made.passed;
  run.cancel();
  await expect(call).rejects.toMatchObject({ code: 'cancelled', outcome: 'unknown' });
  await run.close();
  expect(await store.getTask(taskId)).toMatchObject({ status: 'cancelled' });
  store.cleanup();
});
