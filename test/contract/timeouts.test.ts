import {
  CancelledError,
  configureMcpToolset,
  ConfigurationError,
  DeadlineExceededError,
  McpToolset,
  ProviderError,
  RunFactory,
  ToolBinding,
  ToolsetDiscovery,
  type ToolExecution,
  type ToolRegistry,
} from 'mcp-toolset';
import { container } from 'tsyringe';
import { leapingClock, LIMIT } from '../leaping-clock';
import {
  closeServersAfterEach,
  startRawHttp,
  taken,
  text,
  tool,
  type RawHttpScript,
  type RawHttpServer,
} from '../servers';
import { closeRunsAfterEach, factoryToolset, httpClient, registered, startRun, toolsetFor } from './live-run';

closeServersAfterEach();
closeRunsAfterEach();
const clock = leapingClock();

/** So much longer that it is not reached either after a leap of 0.7 of it. */
const LONGER = 10 * LIMIT;
const silent: RawHttpScript = { tools: [tool('x')], call: (_params, exchange) => void exchange.hang() };

function messageOf(execution: ToolExecution): string {
  expect(execution.error).toBeInstanceOf(ProviderError);
  return (execution.error as ProviderError).message;
}

/** The message of a call that is not answered within the limit. */
async function tooSlow(server: RawHttpServer, registry: ToolRegistry): Promise<string> {
  const call = registry.execute({ name: 'x' });
  await server.waitFor('tools/call');
  clock.leap(LIMIT);
  return messageOf(await call);
}

/** Answers when so much time has passed. */
function answerAfter(milliseconds: number): NonNullable<RawHttpScript['call']> {
  return (_params, exchange) => {
    setTimeout(() => exchange.json(text('done')), milliseconds);
    clock.leap(milliseconds);
  };
}

describe('R30: the time for one request', () => {
  it("is the connection's, before the toolset's and the configured default", async () => {
    const server = await startRawHttp(silent);
    const run = startRun();
    configureMcpToolset(run.container, { timeout: LONGER });
    const registry = await registered(run, toolsetFor({ ...server.connection, timeout: LIMIT }, { timeout: LONGER }));
    expect(await tooSlow(server, registry)).toContain(`within ${LIMIT} ms`);
  });

  it('is what a function returned for the connection', async () => {
    const server = await startRawHttp(silent);
    const toolset = toolsetFor(() => ({ ...server.connection, timeout: LIMIT }), { timeout: LONGER });
    const registry = await registered(startRun(), toolset);
    expect(await tooSlow(server, registry)).toContain(`within ${LIMIT} ms`);
  });

  it("is the toolset's, before the configured default", async () => {
    const server = await startRawHttp(silent);
    const run = startRun();
    configureMcpToolset(run.container, { timeout: LONGER });
    const registry = await registered(run, toolsetFor(server.connection, { timeout: LIMIT }));
    expect(await tooSlow(server, registry)).toContain(`within ${LIMIT} ms`);
  });

  it('is the configured default where nothing else is said', async () => {
    const server = await startRawHttp(silent);
    const run = startRun();
    configureMcpToolset(run.container, { timeout: LIMIT });
    const registry = await registered(run, toolsetFor(server.connection));
    expect(await tooSlow(server, registry)).toContain(`within ${LIMIT} ms`);
  });

  it('is what the factory says of the client that it built', async () => {
    const server = await startRawHttp(silent);
    const toolset = factoryToolset(() => ({ ...httpClient(server.url), timeout: LIMIT }), { timeout: LONGER });
    const registry = await registered(startRun(), toolset);
    expect(await tooSlow(server, registry)).toContain(`within ${LIMIT} ms`);
  });

  it('holds for each page of discovery too', async () => {
    const server = await startRawHttp({
      tools: ({ cursor }) => (cursor === undefined ? { tools: [tool('x')], nextCursor: 'two' } : undefined),
    });
    const registering = registered(startRun(), toolsetFor(server.connection, { timeout: LIMIT }));
    await server.waitFor('tools/list', 2);
    clock.leap(LIMIT);
    await expect(registering).rejects.toThrow(new RegExp(`tools/list.* within ${LIMIT} ms`));
    await expect(registering).rejects.toThrow(ProviderError);
    await server.waitForNoRequests();
  });

  it('holds for connecting too', async () => {
    const server = await startRawHttp({ on: { initialize: (exchange) => exchange.hang() } });
    const registering = registered(startRun(), toolsetFor(server.connection, { timeout: LIMIT }));
    await server.waitFor('initialize');
    clock.leap(LIMIT);
    await expect(registering).rejects.toThrow(new RegExp(`initialize.* within ${LIMIT} ms`));
    await server.waitForNoRequests();
  });

  it("is @CreateClient's for connecting, all steps of it, and for nothing else", async () => {
    const server = await startRawHttp({ on: { 'notifications/initialized': (exchange) => exchange.hang() } });
    const toolset = factoryToolset(() => httpClient(server.url), { timeout: LONGER, connect: { timeout: LIMIT } });
    const registering = registered(startRun(), toolset);
    await server.waitFor('notifications/initialized');
    clock.leap(LIMIT);
    await expect(registering).rejects.toThrow(new RegExp(`initialize.* within ${LIMIT} ms`));
    const slow = await startRawHttp({ tools: [tool('x')], call: answerAfter(2 * LIMIT) });
    const patient = factoryToolset(() => httpClient(slow.url), { timeout: LONGER, connect: { timeout: LIMIT } });
    const registry = await registered(startRun(), patient);
    expect(await registry.execute({ name: 'x' })).toMatchObject({ content: 'done' });
  });

  it('starts again with progress', async () => {
    const server: RawHttpServer = await startRawHttp({
      tools: [tool('x')],
      call: async (_params, exchange) => {
        const stream = exchange.sse();
        for (let step = 1; step <= 6; step += 1) {
          clock.leap(0.7 * LONGER);
          await taken(server, stream.progress(step));
        }
        stream.reply(text('done')).end();
      },
    });
    const registry = await registered(startRun(), toolsetFor(server.connection, { timeout: LONGER }));
    expect(await registry.execute({ name: 'x' })).toMatchObject({ content: 'done' });
  });

  it('does not start again with the progress of another call', async () => {
    const server: RawHttpServer = await startRawHttp({
      tools: [tool('x'), tool('y')],
      call: async ({ name }, exchange) => {
        if (name === 'x') return undefined;
        await server.waitFor('tools/call', 2);
        clock.leap(0.7 * LONGER);
        await taken(server, exchange.sse().progress(1));
        clock.leap(0.7 * LONGER);
        return undefined;
      },
    });
    const registry = await registered(startRun(), toolsetFor(server.connection, { timeout: LONGER }));
    const own = new AbortController();
    const busy = registry.execute({ name: 'y' }, { signal: own.signal });
    expect(messageOf(await registry.execute({ name: 'x' }))).toContain(`within ${LONGER} ms`);
    own.abort();
    await expect(busy).rejects.toThrow(CancelledError);
  });

  it('ends at the deadline, whatever the progress', async () => {
    const server: RawHttpServer = await startRawHttp({
      tools: [tool('x')],
      call: async (_params, exchange) => {
        clock.leap(0.7 * LONGER);
        await taken(server, exchange.sse().progress(1));
        clock.leap(0.7 * LONGER);
      },
    });
    const run = startRun({ timeout: 1.4 * LONGER });
    const registry = await registered(run, toolsetFor(server.connection, { timeout: LONGER }));
    await expect(registry.execute({ name: 'x' })).rejects.toThrow(DeadlineExceededError);
    await run.close();
  });

  it('is cut short by the deadline', async () => {
    const server = await startRawHttp(silent);
    const run = startRun({ timeout: LONGER, deadline: new Date(Date.now() + LIMIT) });
    const registry = await registered(run, toolsetFor(server.connection, { timeout: LONGER }));
    const call = registry.execute({ name: 'x' });
    await server.waitFor('tools/call');
    clock.leap(LIMIT);
    await expect(call).rejects.toThrow(DeadlineExceededError);
  });

  it('can be longer than a timer can wait', async () => {
    const server = await startRawHttp({ tools: [tool('x')], call: answerAfter(50) });
    const timers = jest.spyOn(globalThis, 'setTimeout');
    const run = startRun({ timeout: Number.MAX_VALUE, deadline: new Date(8.64e15) });
    configureMcpToolset(run.container, { timeout: 2 ** 31 });
    for (const toolset of [
      toolsetFor(server.connection),
      toolsetFor(server.connection, { timeout: 2 ** 31 }),
      toolsetFor({ ...server.connection, timeout: Number.MAX_VALUE }),
      factoryToolset(() => httpClient(server.url), { connect: { timeout: 2 ** 40 } }),
    ]) {
      const binding = new ToolBinding({ run });
      const [Generated] = await new ToolsetDiscovery().discover(toolset, binding);
      expect(await new Generated!(binding).execute()).toMatchObject({ content: 'done' });
    }
    expect(run.state).toBe('active');
    // Node lets a timer that it cannot hold fire at once.
    expect(Math.max(...timers.mock.calls.map(([, delay]) => delay ?? 0))).toBe(2 ** 31 - 1);
    timers.mockRestore();
  });
});

describe('R30: what is no time is refused', () => {
  const wrong: unknown[] = [0, 0.5, -1, Number.NaN, Infinity, -Infinity, '1000', null, {}, true, 10n];

  it.each(wrong)('%p', async (value) => {
    const timeout = value as number;
    const connection = { url: 'http://127.0.0.1:9/', allowInsecureHttp: true };
    expect(() => toolsetFor(connection, { timeout })).toThrow(ConfigurationError);
    expect(() => toolsetFor({ ...connection, timeout })).toThrow(/Remote.*timeout/);
    expect(() => toolsetFor({ command: 'unused', timeout })).toThrow(/Remote.*timeout/);
    expect(() => factoryToolset(() => httpClient(connection.url), { connect: { timeout } })).toThrow(/timeout/);
    expect(() => configureMcpToolset(container.createChildContainer(), { timeout })).toThrow(/timeout/);
    expect(() => new RunFactory().start({ timeout })).toThrow(/timeout/);
    const byFunction = toolsetFor(() => ({ ...connection, timeout }));
    await expect(registered(startRun(), byFunction)).rejects.toThrow(/Remote.*timeout/);
    const byFactory = factoryToolset(() => ({ ...httpClient(connection.url), timeout }));
    await expect(registered(startRun(), byFactory)).rejects.toThrow(/Built.*timeout/);
  });

  it('as a deadline', () => {
    for (const deadline of [new Date(Number.NaN), Date.now() + 1_000, '2030-01-01']) {
      expect(() => new RunFactory().start({ deadline: deadline as Date })).toThrow(/deadline/);
    }
  });

  it('is a ConfigurationError everywhere', async () => {
    const attempts: (() => unknown)[] = [
      () =>
        McpToolset({
          timeout: Number.NaN,
          connection: { url: 'http://127.0.0.1:9/', allowInsecureHttp: true },
        })(class A {}),
      () => new RunFactory().start({ timeout: Number.NaN }),
      () => configureMcpToolset(container.createChildContainer(), { timeout: Number.NaN }),
    ];
    for (const attempt of attempts) expect(attempt).toThrow(ConfigurationError);
    const byFactory = factoryToolset(() => ({ ...httpClient('http://127.0.0.1:9/'), timeout: Number.NaN }));
    await expect(registered(startRun(), byFactory)).rejects.toThrow(ConfigurationError);
  });
});
