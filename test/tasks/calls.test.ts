import { MapResult, McpToolset, ProtocolError, ToolError, type McpToolsetError, type ToolExecution } from 'mcp-toolset';
import { listenersOf, closeRunsAfterEach, registered, startRun, toolsetFor } from '../contract/live-run';
import { closeServersAfterEach, text, tool } from '../servers';
import { LONG, task, taskRequests, taskServer, type TaskScript } from './task-server';

closeServersAfterEach();
closeRunsAfterEach();

const optionalTool = tool('long', { execution: { taskSupport: 'optional' } });

/** How the call of a task ends, in a run of its own. */
async function called(script: TaskScript): Promise<ToolExecution> {
  const server = await taskServer(script);
  const registry = await registered(startRun(), toolsetFor(server.connection));
  return registry.execute({ id: 'c', name: 'long', input: { q: 1 } });
}

describe('a tool that requires it is called as a task', () => {
  it('which is looked at until it has ended, and whose result is fetched', async () => {
    const server = await taskServer({ status: (look) => (look < 4 ? 'working' : 'completed') });
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    const idle = listenersOf(run.signal);
    expect(await registry.execute({ name: 'long', input: { q: 1 } })).toMatchObject({
      status: 'success',
      content: 'done',
    });
    expect(taskRequests(server)).toEqual(['tools/call', ...Array<string>(4).fill('tasks/get'), 'tasks/result']);
    expect(server.calls[0]).toMatchObject({ name: 'long', arguments: { q: 1 }, task: {} });
    expect(server.calls[0]?.task).toEqual({});
    const asked = server.requests.filter(({ method }) => method.startsWith('tasks/'));
    expect(new Set(asked.map(({ params }) => params.taskId))).toEqual(new Set(['task-1']));
    expect(listenersOf(run.signal)).toBe(idle);
  });

  it('whose result is converted like any other', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' };
    const server = await taskServer({
      script: { tools: [{ ...LONG, outputSchema }] },
      result: (exchange) => exchange.json({ content: [image], structuredContent: { n: 1 } }),
    });
    @McpToolset({ connection: server.connection })
    class Mapped {
      @MapResult()
      present(value: unknown, { arguments: args }: { arguments: unknown }): unknown {
        return { value, args };
      }
    }
    const registry = await registered(startRun(), Mapped);
    expect(await registry.execute({ name: 'long', input: { a: 1 } })).toMatchObject({
      value: { value: { n: 1 }, args: { a: 1 } },
      artifacts: [{ mediaType: 'image/png', kind: 'inline' }],
    });
    server.script.on = {
      ...server.script.on,
      'tasks/result': (exchange) => exchange.json({ structuredContent: { n: 'x' } }),
    };
    const { error } = await registry.execute({ name: 'long' });
    expect(error).toMatchObject({ code: 'protocol_error', outcome: 'completed' });
  });

  it('also where the server has carried it out at once', async () => {
    expect(await called({ script: { call: () => text('at once') } })).toMatchObject({ content: 'at once' });
    const ended = { call: () => ({ task: task('completed') }) };
    expect(await called({ script: ended, on: { 'tasks/get': () => expect('asked').toBe('never') } })).toMatchObject({
      content: 'done',
    });
  });

  it('and not where the server does not announce that it carries out calls as tasks', async () => {
    const script = { initialize: {}, call: () => text('plain') };
    const server = await taskServer({ script });
    const registry = await registered(startRun(), toolsetFor(server.connection));
    expect(await registry.execute({ name: 'long' })).toMatchObject({ content: 'plain' });
    expect(server.calls[0]).not.toHaveProperty('task');
  });
});

describe('a tool that may be called as a task', () => {
  it.each([
    ['is not by default', {}, undefined],
    ['is where the toolset says so', { optional: true }, {}],
    ['is asked to be kept for a time', { optional: true, ttl: 5_000 }, { ttl: 5_000 }],
  ])('%s', async (_, tasks, sent) => {
    const server = await taskServer({ script: { tools: [optionalTool] } });
    const registry = await registered(startRun(), toolsetFor(server.connection, { tasks }));
    await registry.execute({ name: 'long' });
    expect(server.calls[0]?.task).toEqual(sent);
  });

  it.each([
    ['forbidden', tool('long', { execution: { taskSupport: 'forbidden' } })],
    ['not said to be', tool('long')],
    ['said to be in some other way', tool('long', { execution: 'required' })],
  ])('is called plainly where that is %s', async (_, definition) => {
    const server = await taskServer({ script: { tools: [definition], call: () => text('plain') } });
    const registry = await registered(startRun(), toolsetFor(server.connection, { tasks: { optional: true } }));
    expect(await registry.execute({ name: 'long' })).toMatchObject({ content: 'plain' });
    expect(server.calls[0]).not.toHaveProperty('task');
  });

  it('has options that are checked and inherited', async () => {
    expect(() => McpToolset({ tasks: { ttl: 0 } })(class Wrong {})).toThrow(/Wrong.*"tasks.ttl"/);
    expect(() => McpToolset({ tasks: { optinal: true } as object })(class Wrong {})).toThrow(/"tasks.optinal"/);
    const server = await taskServer({ script: { tools: [optionalTool] } });
    @McpToolset({ connection: server.connection, tasks: { optional: true, ttl: 9 } })
    class Parent {}
    @McpToolset({ tasks: { ttl: 7 } })
    class Child extends Parent {}
    const registry = await registered(startRun(), Child);
    await registry.execute({ name: 'long' });
    expect(server.calls[0]?.task).toEqual({ ttl: 7 });
  });
});

describe('a task that fails', () => {
  it('by a result that says so is an error execution with its content', async () => {
    const result = text('out of paper', { isError: true });
    expect(await called({ status: () => 'failed', result: (exchange) => exchange.json(result) })).toMatchObject({
      status: 'error',
      content: 'out of paper',
    });
  });

  it('by a JSON-RPC error is a ToolError with its message', async () => {
    const { content, error } = await called({
      status: () => 'failed',
      result: (exchange) => exchange.error(-32603, 'no paper'),
    });
    expect(content).toBe('no paper');
    expect(error).toBeInstanceOf(ToolError);
  });

  it.each(['failed', 'cancelled'])('with a message beside its status (%s) tells that', async (status) => {
    const result: TaskScript['result'] = (exchange) => exchange.error(-32603, 'Task task-1 has no result stored');
    const seen = task(status, { statusMessage: 'the printer is on fire' });
    const { content, error } = await called({ status: () => seen, result });
    expect(content).toBe(`The task ${status === 'failed' ? 'failed' : 'was cancelled'}: the printer is on fire`);
    expect(error).toMatchObject({ cause: { message: 'Task task-1 has no result stored' } });
  });

  it('while its result is asked for already tells the message beside its status', async () => {
    const states = [task('input_required'), task('failed', { statusMessage: 'nobody answered' })];
    const { content } = await called({
      status: (look) => states[Math.min(look, 2) - 1] ?? '',
      result: (exchange) => exchange.error(-32603, 'no result'),
    });
    expect(content).toBe('The task failed: nobody answered');
  });

  it('does not tell what the status of a completed one says', async () => {
    const { content } = await called({
      status: () => task('completed', { statusMessage: 'all is well' }),
      result: (exchange) => exchange.error(-32603, 'lost it'),
    });
    expect(content).toBe('lost it');
  });
});

describe('a server that breaks the protocol of tasks is a ProtocolError, and its task is cancelled', () => {
  it.each([
    ['an unknown status', { status: () => 'dreaming' }, /status "dreaming"/, ['tasks/cancel']],
    ['no status', { status: () => ({ taskId: 'task-1' }) }, /status undefined/, ['tasks/cancel']],
    ['a task without an id', { script: { call: () => ({ task: { status: 'working' } }) } }, /no id/, []],
    ['a task with an empty id', { script: { call: () => ({ task: { status: 'working', taskId: '' } }) } }, /no id/, []],
    [
      'an answer that is no object',
      { on: { 'tasks/get': (exchange) => exchange.json([]) } },
      /cannot be read/,
      ['tasks/cancel'],
    ],
    ['a result that is no object', { result: (exchange) => exchange.json('x') }, /cannot be read/, ['tasks/cancel']],
  ] as [string, TaskScript, RegExp, string[]][])('by %s', async (_, script, message, told) => {
    const server = await taskServer(script);
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    const { error, content } = await registry.execute({ name: 'long' });
    expect(error).toBeInstanceOf(ProtocolError);
    const { message: said, outcome } = error as McpToolsetError;
    expect(said).toMatch(message);
    expect(said).toContain('tool "long"');
    expect(outcome).toBe('unknown');
    expect(content).toContain('not known whether');
    await run.close();
    expect(taskRequests(server).filter((method) => method === 'tasks/cancel')).toEqual(told);
  });

  it('and odd times between two looks are put right', async () => {
    // One of them is waited for; and long enough for each request on a busy machine.
    const LONGEST_PAUSE = 4_000;
    for (const pollInterval of [-1, 0, 'soon', null, 1e300]) {
      const connection = (
        await taskServer({
          status: (look) => (look < 2 ? task('working', { pollInterval }) : 'completed'),
          script: { call: () => ({ task: task('working', { pollInterval: 0 }) }) },
        })
      ).connection;
      const registry = await registered(startRun(), toolsetFor(connection, { timeout: LONGEST_PAUSE }));
      expect(await registry.execute({ name: 'long' })).toMatchObject({ content: 'done' });
    }
  });
});
