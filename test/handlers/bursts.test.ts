import { configureMcpToolset, ToolBinding, ToolRegistry, type LogNotification } from 'mcp-toolset';
import { container } from 'tsyringe';
import { closeServersAfterEach, rawStdio, startRawHttp, text, tool } from '../servers';
import { closeRunsAfterEach, gate } from '../contract/live-run';
import { askingToolset, Log, scene } from './asking';

closeServersAfterEach();
closeRunsAfterEach();

const BURST = 10_000;
/** How many may wait for a handler. */
const WAITING = 1_000;
const numberOf = ({ data }: LogNotification): number => Number(data);

/** A stdio server that logs ten thousand lines before, between and after its calls; each line has a number. */
function burstingServer() {
  return rawStdio({
    tools: [tool('x')],
    data: { sent: 0, burst: BURST },
    on: {
      'notifications/initialized': ({ data, notify }) => {
        for (let count = 0; count < data.burst; count += 1) {
          notify('notifications/message', { level: 'info', data: (data.sent += 1) });
        }
      },
      'tools/call': ({ data, notify, reply, id }) => {
        const burst = (): void => {
          for (let count = 0; count < data.burst; count += 1) {
            notify('notifications/message', { level: 'info', data: (data.sent += 1) });
          }
        };
        burst();
        reply(id, { content: [{ type: 'text', text: 'done' }] });
        burst();
      },
    },
  });
}

it('a handler that keeps up is told everything, in order', async () => {
  const server = await burstingServer();
  const told: number[] = [];
  const full = gate();
  const log = (line: LogNotification): void => {
    if (told.push(numberOf(line)) === 5 * BURST) full.open();
  };
  const { registry, log: logged } = await scene(server, { log });
  for (let call = 0; call < 2; call += 1)
    expect(await registry.execute({ name: 'x' })).toMatchObject({ content: 'done' });
  await full.passed;
  expect(told).toEqual(Array.from({ length: 5 * BURST }, (_, index) => index + 1));
  expect(logged.warnings).toEqual([]);
});

it('a handler that never ends blocks no call: the newest lines wait, the oldest are dropped, and one warning says so', async () => {
  const server = await burstingServer();
  const first = gate();
  const told: number[] = [];
  const last = gate();
  const log = async (line: LogNotification): Promise<void> => {
    told.push(numberOf(line));
    if (numberOf(line) === 5 * BURST) last.open();
    await first.passed;
  };
  const { registry, log: logged } = await scene(server, { log });
  for (let call = 0; call < 2; call += 1)
    expect(await registry.execute({ name: 'x' })).toMatchObject({ content: 'done' });
  // The reply to a request of the server shows that all that came before it has been taken in.
  await server.tell((exchange) => exchange.request('last', 'ping'));
  await server.waitFor('response');
  expect(told).toEqual([1]);
  first.open();
  await last.passed;
  expect(told).toEqual([1, ...Array.from({ length: WAITING }, (_, index) => 5 * BURST - WAITING + index + 1)]);
  expect(logged.warnings).toEqual([expect.stringContaining(`more than ${WAITING} notifications`)]);
});

it('a handler that fails is logged, and told what follows', async () => {
  const server = await startRawHttp({
    tools: [tool('x')],
    call: (_params, exchange) => {
      const stream = exchange.sse();
      for (const data of [1, 2, 3]) stream.notify('notifications/message', { level: 'info', data });
      stream.reply(text('done')).end();
    },
  });
  const full = gate();
  const log = (line: LogNotification): unknown => {
    if (numberOf(line) === 1) throw new Error('one');
    if (numberOf(line) === 2) return Promise.reject(new Error('two'));
    return full.open();
  };
  const { registry, log: logged } = await scene(server, { log });
  expect(await registry.execute({ name: 'x' })).toMatchObject({ content: 'done' });
  await full.passed;
  expect(logged.errors).toEqual([expect.stringMatching(/: one$/), expect.stringMatching(/: two$/)]);
});

it.each(['a run', 'a registry without a run'])('nothing is delivered after %s has been closed', async (owner) => {
  const server = await burstingServer();
  const first = gate();
  const told: number[] = [];
  const log = async (line: LogNotification): Promise<void> => {
    told.push(numberOf(line));
    await first.passed;
  };
  if (owner === 'a run') {
    const { run, registry } = await scene(server, { log });
    await registry.execute({ name: 'x' });
    await run.close();
  } else {
    const own = container.createChildContainer();
    configureMcpToolset(own, { logger: new Log() });
    const registry = new ToolRegistry(new ToolBinding({ container: own }));
    await registry.register(askingToolset(server, { log }));
    await registry.execute({ name: 'x' });
    await registry.close();
  }
  first.open();
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).toEqual([1]);
});

it('a burst that nobody listens to blocks no call', async () => {
  const server = await burstingServer();
  const { registry, log } = await scene(server, {});
  for (let call = 0; call < 2; call += 1)
    expect(await registry.execute({ name: 'x' })).toMatchObject({ content: 'done' });
  expect(log.warnings).toEqual([]);
});

it('of requests without end, only so many are answered at once; the others are refused, and one warning says so', async () => {
  const server = await rawStdio({
    tools: [tool('x')],
    data: { asked: 0 },
    call: (_params, { data, request }) => {
      for (let count = 0; count < 1_000; count += 1) request(`ask-${(data.asked += 1)}`, 'roots/list');
      return { content: [] };
    },
  });
  const first = gate();
  let running = 0;
  let most = 0;
  const roots = async (): Promise<[]> => {
    most = Math.max(most, (running += 1));
    await first.passed;
    running -= 1;
    return [];
  };
  const { registry, log } = await scene(server, { roots }, { limits: { maxServerRequests: 3 } });
  const answered = () => server.received.filter(({ message }) => Object.hasOwn(Object(message) as object, 'result'));
  expect(await registry.execute({ name: 'x' })).toMatchObject({ status: 'success' });
  await server.waitFor('response', 997);
  expect(answered()).toEqual([]);
  first.open();
  await server.waitFor('response', 1_000);
  expect(answered()).toHaveLength(3);
  expect(most).toBe(3);
  expect(log.warnings).toEqual([expect.stringMatching(/Asking: .*roots\/list.* maxServerRequests \(3\)/)]);
  await server.tell((exchange) => exchange.request('again', 'roots/list'));
  await server.waitFor('response', 1_001);
  expect(answered()).toHaveLength(4);
});
