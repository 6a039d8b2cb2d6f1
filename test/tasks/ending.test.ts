import { CancelledError, DeadlineExceededError, ProviderError, SessionRegistry, type Run } from 'mcp-toolset';
import { container } from 'tsyringe';
import {
  cancelNotices,
  closeRunsAfterEach,
  gate,
  listenersOf,
  registered,
  startRun,
  toolsetFor,
} from '../contract/live-run';
import { leapingClock, LIMIT } from '../leaping-clock';
import { closeServersAfterEach, rawStdio, text, tool, type HttpHandler, type RawHttpServer } from '../servers';
import { LONG, task, TASK_CAPABILITIES, taskServer } from './task-server';

closeServersAfterEach();
closeRunsAfterEach();
const clock = leapingClock();

/** So much longer that it is not reached either after a leap of 0.7 of it. */
const LONGER = 10 * LIMIT;
const working = (): string => 'working';
const hang: HttpHandler = (exchange) => exchange.hang();

/** How many times a server was told that a task is not needed any more. */
const cancels = (server: RawHttpServer): unknown[] =>
  server.requests.filter(({ method }) => method === 'tasks/cancel').map(({ params }) => params);

describe('a task that is given up is cancelled, once, and the call itself is not', () => {
  it.each<[string, (run: Run, own: AbortController) => unknown]>([
    ["by the call's own signal", (_run, own) => own.abort()],
    ['by the run that is cancelled', (run) => run.cancel()],
    ['by the run that is closed', (run) => run.close()],
  ])('%s', async (_, end) => {
    const server = await taskServer({ status: working });
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    const own = new AbortController();
    const call = registry.execute({ name: 'long' }, { signal: own.signal });
    const callRequest = await server.waitFor('tools/call');
    await server.waitFor('tasks/get', 2);
    end(run, own);
    await expect(call).rejects.toThrow(CancelledError);
    await server.waitFor('tasks/cancel');
    expect(listenersOf(own.signal)).toBe(0);
    await run.close();
    expect(listenersOf(run.signal)).toBe(0);
    expect(cancels(server)).toEqual([{ taskId: 'task-1' }]);
    expect(cancelNotices(server.requests)).not.toContainEqual(expect.objectContaining({ requestId: callRequest.id }));
    const methods = server.requests.map(({ method }) => method);
    expect(methods.indexOf('tasks/cancel')).toBeLessThan(methods.indexOf('DELETE'));
  });

  it('by the deadline of the run', async () => {
    const server = await taskServer({ status: working });
    const run = startRun({ timeout: LIMIT });
    const registry = await registered(run, toolsetFor(server.connection));
    const call = registry.execute({ name: 'long' });
    await server.waitFor('tasks/get');
    clock.leap(LIMIT);
    await expect(call).rejects.toThrow(DeadlineExceededError);
    await server.waitFor('tasks/cancel');
    await run.close();
    expect(cancels(server)).toHaveLength(1);
  });

  it('while it is being made: as soon as the server says which one it is', async () => {
    const made = gate();
    const server = await taskServer({
      script: {
        call: async () => {
          await made.passed;
          return { task: task('working') };
        },
      },
    });
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    const own = new AbortController();
    const call = registry.execute({ name: 'long' }, { signal: own.signal });
    await server.waitFor('tools/call');
    own.abort();
    await expect(call).rejects.toThrow(CancelledError);
    made.open();
    await server.waitFor('tasks/cancel');
    await run.close();
    expect(cancels(server)).toEqual([{ taskId: 'task-1' }]);
    expect(cancelNotices(server.requests)).toEqual([]);
  });

  it('while it is being made by a server that never says so: the call is given up like any other', async () => {
    const server = await taskServer({ on: { 'tools/call': hang } });
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    const call = registry.execute({ name: 'long' });
    const { id } = await server.waitFor('tools/call');
    run.cancel();
    await expect(call).rejects.toThrow(CancelledError);
    await run.close();
    expect(cancelNotices(server.requests)).toMatchObject([{ requestId: id }]);
    expect(cancels(server)).toEqual([]);
  });

  it('while its result is waited for', async () => {
    const server = await taskServer({ status: () => 'input_required', result: hang });
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    const call = registry.execute({ name: 'long' });
    const { id } = await server.waitFor('tasks/result');
    run.cancel();
    await expect(call).rejects.toThrow(CancelledError);
    await run.close();
    expect(cancels(server)).toHaveLength(1);
    expect(cancelNotices(server.requests)).toContainEqual(expect.objectContaining({ requestId: id }));
  });

  it('and a server that does not take the cancelling keeps no run from closing', async () => {
    const server = await taskServer({ status: working, on: { 'tasks/cancel': hang } });
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    const call = registry.execute({ name: 'long' });
    await server.waitFor('tasks/get');
    run.cancel();
    await expect(call).rejects.toThrow(CancelledError);
    await run.close();
    expect(cancels(server)).toHaveLength(1);
    expect(container.resolve(SessionRegistry).size).toBe(0);
  });
});

describe('the time of a task', () => {
  it('may be longer than that of one request, as long as the server says that it goes on', async () => {
    const server = await taskServer({
      status: (look) => {
        clock.leap(0.7 * LONGER);
        return look < 4 ? 'working' : 'completed';
      },
    });
    const registry = await registered(startRun(), toolsetFor(server.connection, { timeout: LONGER }));
    expect(await registry.execute({ name: 'long' })).toMatchObject({ content: 'done' });
  });

  it('may be longer while its result is waited for, as long as it is seen to go on', async () => {
    const over = gate();
    const server = await taskServer({
      status: (look) => {
        clock.leap(0.7 * LONGER);
        if (look === 8) over.open();
        return look === 1 ? 'input_required' : 'working';
      },
      result: async (exchange) => {
        await over.passed;
        exchange.json(text('done at last'));
      },
    });
    const registry = await registered(startRun(), toolsetFor(server.connection, { timeout: LONGER }));
    expect(await registry.execute({ name: 'long' })).toMatchObject({ content: 'done at last' });
  });

  it('begins anew with each of its requests', async () => {
    const late =
      (answer: HttpHandler): HttpHandler =>
      (exchange) => {
        clock.leap(0.7 * LONGER);
        return answer(exchange);
      };
    const on = {
      'tasks/get': late((exchange) => exchange.json(task('completed'))),
      'tasks/result': late((exchange) => exchange.json(text('done'))),
    };
    const server = await taskServer({ on });
    const registry = await registered(startRun(), toolsetFor(server.connection, { timeout: LONGER }));
    expect(await registry.execute({ name: 'long' })).toMatchObject({ content: 'done' });
  });

  it.each([
    ['making it', 'tools/call'],
    ['a look at it', 'tasks/get'],
    ['its result', 'tasks/result'],
  ])('is that of one request for %s', async (_, method) => {
    const server = await taskServer({ on: { [method]: hang } });
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection, { timeout: LIMIT }));
    const call = registry.execute({ name: 'long' });
    await server.waitFor(method);
    clock.leap(LIMIT);
    const { error } = await call;
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({
      outcome: 'unknown',
      message: expect.stringContaining(`within ${LIMIT} ms`) as string,
    });
    await run.close();
    expect(cancels(server)).toHaveLength(method === 'tools/call' ? 0 : 1);
  });
});

it('a look at a task that is under way when its result comes is given up', async () => {
  const server = await taskServer({
    script: { call: () => ({ task: task('input_required') }) },
    on: { 'tasks/get': hang },
    result: async (exchange) => {
      await server.waitFor('tasks/get');
      exchange.json(text('done'));
    },
  });
  const registry = await registered(startRun(), toolsetFor(server.connection));
  expect(await registry.execute({ name: 'long' })).toMatchObject({ content: 'done' });
  expect(await (await server.waitFor('tasks/get')).waitForClose()).toBe('aborted');
  expect(cancels(server)).toEqual([]);
});

describe('a task whose server fails', () => {
  it.each<[string, HttpHandler, RegExp]>([
    ['by HTTP 400', (exchange) => exchange.raw(400, {}, 'bad'), /HTTP 400/],
    ['by HTTP 500', (exchange) => exchange.raw(500, {}, 'bad'), /HTTP 500/],
    ['by a JSON-RPC error', (exchange) => exchange.error(-32602, 'Task not found'), /-32602: Task not found/],
    ['by closing the connection', (exchange) => exchange.destroy(), /./],
  ])('%s at a look is a ProviderError that does not know whether it was carried out', async (_, answer, message) => {
    const server = await taskServer({ on: { 'tasks/get': answer } });
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const { error, content } = await registry.execute({ name: 'long' });
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ outcome: 'unknown', message: expect.stringMatching(message) as string });
    expect(content).toContain('not known whether');
  });

  it('by forgetting the session is looked at through a new one, and the call is not made again', async () => {
    const server = await taskServer({ status: (look) => (look < 3 ? 'working' : 'completed') });
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const call = registry.execute({ name: 'long' });
    await server.waitFor('tasks/get');
    server.forgetSessions();
    expect(await call).toMatchObject({ content: 'done' });
    expect(server.calls).toHaveLength(1);
    expect(server.requests.filter(({ method }) => method === 'initialize')).toHaveLength(2);
  });

  it('for good is a ProviderError that does not know whether it was carried out', async () => {
    const server = await taskServer({ status: working });
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const call = registry.execute({ name: 'long' });
    await server.waitFor('tasks/get');
    server.script.on = { ...server.script.on, initialize: (exchange) => exchange.raw(503) };
    server.forgetSessions();
    expect((await call).error).toMatchObject({ code: 'provider_error', outcome: 'unknown' });
  });

  it('by refusing to make it is a ToolError', async () => {
    const server = await taskServer({
      script: { call: (_params, exchange) => exchange.error(-32601, 'no tasks today') },
    });
    const registry = await registered(startRun(), toolsetFor(server.connection));
    expect(await registry.execute({ name: 'long' })).toMatchObject({ content: 'no tasks today' });
  });
});

describe('over stdio', () => {
  const script = {
    tools: [LONG, tool('quick')],
    initialize: { capabilities: TASK_CAPABILITIES },
    data: { looks: 0, task: task('working'), done: task('completed'), end: true, seen: [] as string[] },
  };

  it('R32: a task keeps its turn until it has ended', async () => {
    const server = await rawStdio({
      ...script,
      call: ({ name }, { data }) => {
        data.seen.push(name);
        return name === 'long' ? { task: data.task } : { content: [{ type: 'text', text: data.seen.join() }] };
      },
      on: {
        'tasks/get': ({ id, data, reply }) => {
          data.seen.push('look');
          reply(id, (data.looks += 1) < 2 ? data.task : data.done);
        },
        'tasks/result': ({ id, data, reply }) => {
          data.seen.push('result');
          reply(id, { content: [] });
        },
      },
    });
    const registry = await registered(startRun(), toolsetFor(server.connection));
    const [, quick] = await Promise.all(['long', 'quick'].map((name) => registry.execute({ name })));
    expect(quick).toMatchObject({ content: 'long,look,look,result,quick' });
  });

  it('R32: one that is given up is cancelled before its session closes', async () => {
    const server = await rawStdio({
      ...script,
      call: (_params, { data }) => ({ task: data.task }),
      on: { 'tasks/get': ({ id, data, reply }) => reply(id, data.task) },
    });
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    const own = new AbortController();
    const call = registry.execute({ name: 'long' }, { signal: own.signal });
    await server.waitFor('tasks/get');
    own.abort();
    await expect(call).rejects.toThrow(CancelledError);
    await server.waitFor('tasks/cancel');
    const { error } = await registry.execute({ name: 'quick' });
    expect(error).toBeInstanceOf(ProviderError);
    expect((error as ProviderError).message).toMatch(
      /closed, because an earlier request \(.*tool "long"\) was given up/,
    );
  });
});
