import {
  configureMcpToolset,
  ConfigurationError,
  DeadlineExceededError,
  McpToolset,
  ProviderError,
  RunFactory,
  ToolBinding,
  ToolsetDiscovery,
  type ToolExecution,
} from 'mcp-toolset';
import { container } from 'tsyringe';
import { closeServersAfterEach, startRawHttp, text, tool, type RawHttpScript, type RawHttpServer } from '../servers';
import { closeRunsAfterEach, factoryToolset, httpClient, registered, startRun, toolsetFor } from './live-run';

closeServersAfterEach();
closeRunsAfterEach();

const LONG = 20_000;
/** Long enough to connect on a busy machine. */
const SHORT = 300;
const silent: RawHttpScript = { tools: [tool('x')], call: (_params, exchange) => void exchange.hang() };

function messageOf(execution: ToolExecution): string {
  expect(execution.error).toBeInstanceOf(ProviderError);
  return (execution.error as ProviderError).message;
}

/** A server that answers a call after some milliseconds. */
function slowServer(delay: number): Promise<RawHttpServer> {
  return startRawHttp({
    tools: [tool('x')],
    call: (_params, exchange) => void setTimeout(() => exchange.json(text('done')), delay),
  });
}

describe('R30: the time for one request', () => {
  it("is the connection's, before the toolset's and the configured default", async () => {
    const server = await startRawHttp(silent);
    const run = startRun();
    configureMcpToolset(run.container, { timeout: LONG });
    const registry = await registered(run, toolsetFor({ ...server.connection, timeout: SHORT }, { timeout: LONG }));
    expect(messageOf(await registry.execute({ name: 'x' }))).toContain(`within ${SHORT} ms`);
  });

  it('is what a function returned for the connection', async () => {
    const server = await startRawHttp(silent);
    const toolset = toolsetFor(() => ({ ...server.connection, timeout: SHORT }), { timeout: LONG });
    const registry = await registered(startRun(), toolset);
    expect(messageOf(await registry.execute({ name: 'x' }))).toContain(`within ${SHORT} ms`);
  });

  it("is the toolset's, before the configured default", async () => {
    const server = await startRawHttp(silent);
    const run = startRun();
    configureMcpToolset(run.container, { timeout: LONG });
    const registry = await registered(run, toolsetFor(server.connection, { timeout: SHORT }));
    expect(messageOf(await registry.execute({ name: 'x' }))).toContain(`within ${SHORT} ms`);
  });

  it('is the configured default where nothing else is said', async () => {
    const server = await startRawHttp(silent);
    const run = startRun();
    configureMcpToolset(run.container, { timeout: SHORT });
    const registry = await registered(run, toolsetFor(server.connection));
    expect(messageOf(await registry.execute({ name: 'x' }))).toContain(`within ${SHORT} ms`);
  });

  it('is what the factory says of the client that it built', async () => {
    const server = await startRawHttp(silent);
    const toolset = factoryToolset(() => ({ ...httpClient(server.url), timeout: SHORT }), { timeout: LONG });
    const registry = await registered(startRun(), toolset);
    expect(messageOf(await registry.execute({ name: 'x' }))).toContain(`within ${SHORT} ms`);
  });

  it('holds for each page of discovery too', async () => {
    const server = await startRawHttp({
      tools: ({ cursor }) => (cursor === undefined ? { tools: [tool('x')], nextCursor: 'two' } : undefined),
    });
    const registering = registered(startRun(), toolsetFor(server.connection, { timeout: SHORT }));
    await expect(registering).rejects.toThrow(/tools\/list.* within 300 ms/);
    await expect(registering).rejects.toThrow(ProviderError);
    await server.waitForNoRequests();
  });

  it('holds for connecting too', async () => {
    const server = await startRawHttp({ on: { initialize: (exchange) => exchange.hang() } });
    const registering = registered(startRun(), toolsetFor(server.connection, { timeout: SHORT }));
    await expect(registering).rejects.toThrow(/initialize.* within 300 ms/);
    await server.waitForNoRequests();
  });

  it("is @CreateClient's for connecting, all steps of it, and for nothing else", async () => {
    const server = await startRawHttp({ on: { 'notifications/initialized': (exchange) => exchange.hang() } });
    const toolset = factoryToolset(() => httpClient(server.url), { timeout: LONG, connect: { timeout: SHORT } });
    await expect(registered(startRun(), toolset)).rejects.toThrow(/initialize.* within 300 ms/);
    const slow = await slowServer(600);
    const patient = factoryToolset(() => httpClient(slow.url), { timeout: LONG, connect: { timeout: 400 } });
    const registry = await registered(startRun(), patient);
    expect(await registry.execute({ name: 'x' })).toMatchObject({ content: 'done' });
  });

  it('starts again with progress', async () => {
    const server = await startRawHttp({
      tools: [tool('x')],
      call: async (_params, exchange) => {
        const stream = exchange.sse();
        for (let step = 1; step <= 6; step += 1) {
          await new Promise((resolve) => setTimeout(resolve, 100));
          stream.progress(step);
        }
        stream.reply(text('done')).end();
      },
    });
    const registry = await registered(startRun(), toolsetFor(server.connection, { timeout: 400 }));
    expect(await registry.execute({ name: 'x' })).toMatchObject({ content: 'done' });
  });

  it('does not start again with the progress of another call', async () => {
    const server = await startRawHttp({
      tools: [tool('x'), tool('y')],
      call: async ({ name }, exchange) => {
        if (name === 'x') return undefined;
        const stream = exchange.sse();
        for (let step = 1; !stream.closed && step < 1_000; step += 1) {
          stream.progress(step);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        return undefined;
      },
    });
    const registry = await registered(startRun(), toolsetFor(server.connection, { timeout: 200 }));
    const own = new AbortController();
    const busy = registry.execute({ name: 'y' }, { signal: own.signal });
    expect(messageOf(await registry.execute({ name: 'x' }))).toContain('within 200 ms');
    own.abort();
    await expect(busy).rejects.toThrow();
  });

  it('ends at the deadline, whatever the progress', async () => {
    const server = await startRawHttp({
      tools: [tool('x')],
      call: async (_params, exchange) => {
        const stream = exchange.sse();
        for (let step = 1; !stream.closed; step += 1) {
          stream.progress(step);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      },
    });
    const run = startRun({ timeout: 800 });
    const registry = await registered(run, toolsetFor(server.connection, { timeout: 300 }));
    await expect(registry.execute({ name: 'x' })).rejects.toThrow(DeadlineExceededError);
    await run.close();
  });

  it('is cut short by the deadline', async () => {
    const server = await startRawHttp(silent);
    const run = startRun({ timeout: LONG, deadline: new Date(Date.now() + 600) });
    const registry = await registered(run, toolsetFor(server.connection, { timeout: LONG }));
    await expect(registry.execute({ name: 'x' })).rejects.toThrow(DeadlineExceededError);
  });

  it('can be longer than a timer can wait', async () => {
    const server = await slowServer(50);
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
