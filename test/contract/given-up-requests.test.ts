import { EventEmitter, once } from 'node:events';
import { CancelledError, ProviderError } from 'mcp-toolset';
import { Agent, type Dispatcher } from 'undici';
import { leapingClock, LIMIT } from '../leaping-clock';
import { closeServersAfterEach, startRawHttp, text, tool, type HttpExchange, type RawHttpServer } from '../servers';
import { connected, failureOf, type Connected } from './connected';
import { through } from './dispatchers';

closeServersAfterEach();
const clock = leapingClock();

/** Milliseconds that a server has to answer a notice. */
const NOTICE_BOUND = 30_000;

/** An agent that tells of every request that it is given. */
class WatchedAgent extends Agent {
  readonly requests = new EventEmitter();

  override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandlers): boolean {
    const isReady = super.dispatch(options, handler);
    this.requests.emit('dispatched');
    return isReady;
  }
}

/** A server that answers the calls of `quick` only, and no notice. */
function muteServer(): Promise<RawHttpServer> {
  return startRawHttp({
    tools: [tool('wait'), tool('quick')],
    on: {
      'tools/call': (exchange) => exchange.params.name === 'quick' && exchange.json(text('quick')),
      'notifications/cancelled': () => undefined,
    },
  });
}

/** Makes a call, and gives it up when it has come. */
async function givenUp(server: RawHttpServer, { tools }: Connected): Promise<HttpExchange> {
  const own = new AbortController();
  const coming = server.waitFor('tools/call');
  const call = tools.execute({ name: 'wait' }, { signal: own.signal });
  const request = await coming;
  own.abort();
  await expect(call).rejects.toThrow(CancelledError);
  return request;
}

function callsOf({ requests }: RawHttpServer): unknown[] {
  return requests.filter(({ method }) => method === 'tools/call').map(({ params }) => params.name);
}

describe('R28: a request that is given up is dropped', () => {
  it('at once, though the server does not answer the notice, which is dropped after a while', async () => {
    const server = await muteServer();
    await using session = await connected(server.connection);
    const coming = server.waitFor('notifications/cancelled');
    const request = await givenUp(server, session);
    expect(await request.waitForClose()).toBe('aborted');
    const notice = await coming;
    clock.leap(NOTICE_BOUND);
    expect(await notice.waitForClose()).toBe('aborted');
  });

  it('at once, and the end of the session is told though the notice is not answered', async () => {
    const server = await muteServer();
    const session = await connected(server.connection);
    const coming = server.waitFor('notifications/cancelled');
    await givenUp(server, session);
    await coming;
    await session.run.close();
    expect(server.deleted).toHaveLength(1);
  });

  it('when its time is up, so that the only connection is free for the notice and the next call', async () => {
    const server = await startRawHttp({
      tools: [tool('wait'), tool('quick')],
      call: ({ name }) => (name === 'quick' ? text('quick') : undefined),
    });
    await through(new Agent({ connections: 1 }), async () => {
      await using session = await connected(server.connection, { timeout: LIMIT });
      const coming = server.waitFor('tools/call');
      const call = session.call({}, { name: 'wait' });
      await coming;
      clock.leap(LIMIT);
      expect(failureOf(await call)).toBeInstanceOf(ProviderError);
      expect(await session.call({}, { name: 'quick' })).toMatchObject({ content: 'quick' });
    });
    expect(server.requests.map(({ method }) => method)).toContain('notifications/cancelled');
  });

  it('before it leaves, where it waits for a connection', async () => {
    const server = await muteServer();
    const agent = new WatchedAgent({ connections: 1 });
    await through(agent, async () => {
      await using session = await connected(server.connection);
      const coming = server.waitFor('tools/call');
      const first = session.call({}, { name: 'wait' });
      const request = await coming;
      const own = new AbortController();
      const dispatched = once(agent.requests, 'dispatched');
      const second = session.call({}, { name: 'wait', signal: own.signal });
      await dispatched;
      own.abort();
      await expect(second).rejects.toThrow(CancelledError);
      request.json(text('first'));
      expect(await first).toMatchObject({ content: 'first' });
      clock.leap(NOTICE_BOUND);
      expect(await session.call({}, { name: 'quick' })).toMatchObject({ content: 'quick' });
    });
    expect(callsOf(server)).toEqual(['wait', 'quick']);
  });
});

it('R30: a server may take its time for a message that is waited for', async () => {
  const server = await startRawHttp({ tools: [tool('quick')], on: { 'notifications/initialized': () => undefined } });
  const connecting = connected(server.connection, { timeout: LIMIT });
  const initialized = await server.waitFor('notifications/initialized');
  clock.leap(NOTICE_BOUND);
  initialized.accept();
  await using session = await connecting;
  expect(session.tools.names).toEqual(['quick']);
});
