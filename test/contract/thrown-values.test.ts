import { ProviderError } from 'mcp-toolset';
import { closeServersAfterEach, startRawHttp, text, tool } from '../servers';
import { callOnce, connected, failureOf, rejectionOf } from './connected';
import { closeRunsAfterEach, factoryToolset, httpClient, registered, startRun } from './live-run';

closeRunsAfterEach();
closeServersAfterEach();

function throwing(): never {
  throw new Error('it is not to be looked at');
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** An object all of whose properties throw when they are read. */
const unreadable = new Proxy({}, { get: throwing, has: throwing, getPrototypeOf: throwing });

const VALUES: readonly (readonly [string, unknown])[] = [
  ['nothing', undefined],
  ['null', null],
  ['a symbol', Symbol('odd')],
  ['a function without a prototype', Object.setPrototypeOf(() => undefined, null)],
  ['an object without a prototype', Object.create(null)],
  ['an object whose constructor is nothing', { constructor: null }],
  ['an object whose texts throw', { toString: throwing, message: { toString: throwing } }],
  ['an error whose cause has no prototype', new Error('odd', { cause: Object.create(null) })],
  ['an error with a getter that throws', Object.defineProperty(new Error('odd'), 'code', { get: throwing })],
  ['an error whose cause is unreadable', new Error('odd', { cause: unreadable })],
  ['a proxy that throws', unreadable],
  ['a proxy that was revoked', revoked()],
];

describe('R42: whatever a fetch of the application throws, a request fails with an error of the library', () => {
  const isCall = (init?: RequestInit): boolean => typeof init?.body === 'string' && init.body.includes('tools/call');

  it.each(VALUES)('in a call: %s', async (_what, value) => {
    const server = await startRawHttp({ tools: [tool('a')] });
    const odd = (url: string | URL, init?: RequestInit): Promise<Response> =>
      isCall(init) ? Promise.reject(value) : fetch(url, init);
    const failure = failureOf(await callOnce({ ...server.connection, fetch: odd }));
    expect(failure).toBeInstanceOf(ProviderError);
    expect(failure).toMatchObject({ toolset: 'Tested', outcome: 'unknown' });
    expect(failure.cause === value).toBe(true);
  });

  it.each(VALUES)('while connecting: %s', async (_what, value) => {
    const odd = (): Promise<Response> => Promise.reject(value);
    const connection = { url: 'https://mcp.example/', fetch: odd };
    expect(await rejectionOf(connected(connection))).toBeInstanceOf(ProviderError);
    await using session = await connected(connection, { optional: true });
    expect(session.tools.names).toEqual([]);
  });
});

it.each(VALUES)('R42: so it does where a transport of the application throws: %s', async (_what, value) => {
  const server = await startRawHttp({ tools: [tool('a')], call: () => text('ok') });
  const toolset = factoryToolset(() => {
    const { client, transport } = httpClient(server.url);
    const send = transport.send.bind(transport);
    transport.send = (message, options) =>
      'method' in message && message.method === 'tools/call' ? Promise.reject(value) : send(message, options);
    return { client, transport };
  });
  const registry = await registered(startRun(), toolset);
  const failure = failureOf(await registry.execute({ name: 'a', input: {} }));
  expect(failure).toBeInstanceOf(ProviderError);
  expect(failure).toMatchObject({ toolset: 'Built', outcome: 'unknown' });
  expect(failure.cause === value).toBe(true);
});
