import { once } from 'node:events';
import { container as root, type DependencyContainer } from 'tsyringe';
import { Artifact, configureMcpToolset, SessionRegistry } from 'mcp-toolset';
import { createTestServer, overrideClient, type TestServer } from 'mcp-toolset/testing';
import { Agent } from '../../samples/express-service/agent';
import { Answers } from '../../samples/express-service/answers';
import { anthropicLoop } from '../../samples/express-service/anthropic-loop';
import { ArtifactStore } from '../../samples/express-service/artifact-store';
import { scriptedAgent } from '../../samples/express-service/choose-agent';
import { Service } from '../../samples/express-service/service';
import { Settings } from '../../samples/express-service/settings';
import { ShopServer } from '../../samples/express-service/shop/shop-server';
import { ShopTools, WeatherTools } from '../../samples/express-service/toolsets';
import { leapingClock, LIMIT } from '../leaping-clock';
import { png } from '../adapters/media-bytes';

const clock = leapingClock();
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
  expect(root.resolve(SessionRegistry).size).toBe(0);
});

interface Parts {
  /** Stands in for the shop. */
  readonly shop?: TestServer;
  readonly weather?: TestServer;
  readonly agent?: Agent;
  readonly settings?: Partial<ConstructorParameters<typeof Settings>[0]>;
}

interface Started {
  readonly url: string;
  readonly service: Service;
  readonly container: DependencyContainer;
}

/** The service as it is, with test servers in the place of the real ones. */
async function start({ shop, weather, agent = scriptedAgent(), settings = {} }: Parts = {}): Promise<Started> {
  const container = root.createChildContainer();
  const quiet = () => undefined;
  configureMcpToolset(container, { logger: { debug: quiet, warn: quiet, error: quiet } });
  container.registerInstance(Settings, new Settings({ shopUrl: 'http://127.0.0.1:2/mcp', grace: 10_000, ...settings }));
  container.registerInstance(Agent, agent);
  if (shop) overrideClient(container, ShopTools, shop);
  if (weather) overrideClient(container, WeatherTools, weather);
  const service = await Service.start(container);
  stops.push(() => service.stop());
  return { url: service.url, service, container };
}

const json = (body: unknown, headers: object = {}): RequestInit => {
  return { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) };
};

/** Signs a user in; returns the headers of their requests. */
async function signIn(url: string, user: string): Promise<{ Cookie: string }> {
  const response = await fetch(`${url}/session`, json({ user }));
  expect(response.status).toBe(204);
  return { Cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
}

interface Event {
  readonly type: string;
  readonly [field: string]: unknown;
}

async function* eventsOf(response: Response): AsyncGenerator<Event> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    const events = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const [, type = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(event) ?? [];
      yield { type, ...(JSON.parse(data) as object) };
    }
  }
}

/** Asks as a user, and gives back every step. */
async function ask({ url }: Started, user: string, question: string): Promise<Event[]> {
  const response = await fetch(`${url}/ask`, json({ question }, await signIn(url, user)));
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const events: Event[] = [];
  for await (const event of eventsOf(response)) events.push(event);
  return events;
}

const of = (events: readonly Event[], type: string): Event[] => events.filter((event) => event.type === type);

/** A shop with the tools that the script knows. */
function testShop(): TestServer {
  const data = png.toString('base64');
  return createTestServer({
    tools: {
      list_orders: { call: () => 'T-1: a <b>lamp</b>' },
      order_details: {
        call: () => {
          throw new Error('no such order');
        },
      },
      spending_chart: {
        call: () => ({
          content: [
            { type: 'text', text: 'much' },
            { type: 'image', data, mimeType: 'image/png' },
            { type: 'resource', resource: { uri: 'x://page.html', mimeType: 'text/html', blob: btoa('<script>') } },
          ],
        }),
      },
    },
  });
}

/** A shop whose only tool waits until the call is given up. */
function waitingShop() {
  const told = new EventTarget();
  const [started, stopped] = ['started', 'stopped'].map((name) => once(told, name)) as [
    Promise<unknown>,
    Promise<unknown>,
  ];
  const call = (_: unknown, { signal }: { signal: AbortSignal }) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(told.dispatchEvent(new Event('stopped'))), { once: true });
      told.dispatchEvent(new Event('started'));
    });
  return { shop: createTestServer({ tools: { count_stock: { call } } }), started, stopped };
}

it('says in JSON that a request cannot be read', async () => {
  const { url } = await start({ shop: testShop() });
  const headers = { 'Content-Type': 'application/json' };
  for (const [body, status] of [
    ['{"user":', 400],
    [JSON.stringify({ user: 'x'.repeat(20_000) }), 413],
  ] as const) {
    const response = await fetch(`${url}/session`, { method: 'POST', headers, body });
    expect([response.status, await response.json()]).toEqual([status, { error: 'The request cannot be read.' }]);
  }
});

describe('an answer', () => {
  it('comes step by step: the model, the calls, what came of them, the end', async () => {
    const shop = testShop();
    const service = await start({ shop, weather: createTestServer({ tools: { forecast: { call: () => 'rain' } } }) });
    const events = await ask(service, 'ada', 'Where is my latest order, and will it rain?');
    expect(events.map(({ type }) => type)).toEqual([
      ...['start', 'call', 'call', 'result', 'result', 'call', 'result', 'text', 'done'],
    ]);
    expect(events[0]).toMatchObject({
      scripted: true,
      model: 'scripted stand-in',
      tools: expect.arrayContaining(['shop_list_orders', 'weather_forecast']),
    });
    expect(of(events, 'result').map(({ text, failed }) => [text, failed])).toEqual([
      ['T-1: a <b>lamp</b>', false],
      ['rain', false],
      ['no such order', true],
    ]);
    expect(of(events, 'result').map(({ id }) => id)).toEqual(of(events, 'call').map(({ id }) => id));
    expect(shop.calls).toEqual([
      { name: 'list_orders', arguments: {} },
      { name: 'order_details', arguments: { order: 'T-1' } },
    ]);
    expect(shop.connections).toBe(0);
  });

  it('makes a call that failed once, and not twice', async () => {
    const call = ({ order }: Record<string, unknown>) =>
      Promise.reject(new Error(`There is no order ${String(order)}.`));
    const shop = createTestServer({ tools: { order_details: { call } } });
    const events = await ask(await start({ shop }), 'ada', 'Details of order X-999');
    expect(of(events, 'result')).toMatchObject([{ failed: true, text: 'There is no order X-999.' }]);
    expect(events.at(-1)?.type).toBe('done');
  });

  it('does without the optional server, and says so; without the shop there is none', async () => {
    const down = await start({ shop: testShop() });
    const events = await ask(down, 'ada', 'my orders');
    expect(of(events, 'notice')).toMatchObject([{ text: expect.stringContaining('weather server cannot be reached') }]);
    expect(events.at(-1)?.type).toBe('done');

    const complaints = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const none = await ask(await start(), 'ada', 'my orders');
    expect(none.at(-1)).toEqual({ type: 'error', message: 'The shop cannot be reached.' });
    expect(complaints).toHaveBeenCalledTimes(1);
    complaints.mockRestore();
  });

  it('ends at its deadline', async () => {
    const { shop, started, stopped } = waitingShop();
    const asking = ask(await start({ shop, settings: { answerTimeout: LIMIT } }), 'ada', 'count');
    await started;
    clock.leap(LIMIT);
    const events = await asking;
    expect(events.at(-1)).toEqual({ type: 'error', message: 'The answer took too long.' });
    await stopped;
  });

  it('ends when the client goes away: the run closes, and the server is told', async () => {
    const { shop, started, stopped } = waitingShop();
    const { url, service, container } = await start({ shop });
    const gone = new AbortController();
    await fetch(`${url}/ask`, { ...json({ question: 'count' }, await signIn(url, 'ada')), signal: gone.signal });
    await started;
    gone.abort();
    await stopped;
    await service.stop();
    expect([container.resolve(Answers).size, shop.connections]).toEqual([0, 0]);
  });
});

describe('artifacts', () => {
  it('are served by URL to their user, and to nobody else', async () => {
    const service = await start({ shop: testShop() });
    const { url } = service;
    const events = await ask(service, 'ada', 'a chart');
    const [image, page] = of(events, 'artifact');
    expect(image).toMatchObject({ mediaType: 'image/png', callId: of(events, 'call')[0]?.id });
    const mine = await fetch(`${url}${image?.url as string}`, { headers: await signIn(url, 'ada') });
    expect(mine.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await mine.arrayBuffer())).toEqual(png);
    for (const headers of [await signIn(url, 'grace'), {}, { Cookie: 'session=ada.forged' }]) {
      const refused = await fetch(`${url}${image?.url as string}`, { headers });
      expect([401, 404]).toContain(refused.status);
    }
    const download = await fetch(`${url}${page?.url as string}`, { headers: await signIn(url, 'ada') });
    expect(download.headers.get('content-type')).toBe('application/octet-stream');
    expect(download.headers.get('content-disposition')).toContain('attachment');
  });

  it("are resolved for their user's model, and for no other's", async () => {
    const requests: unknown[] = [];
    const use = { type: 'tool_use', id: 'call_1', name: 'shop_spending_chart', input: {} };
    const script = {
      create: async (request: unknown) => (
        requests.push(structuredClone(request)),
        { content: requests.length === 1 ? [use] : [] }
      ),
    };
    const agent = new Agent('test', true, anthropicLoop(script as never, 'test'));
    const service = await start({ shop: testShop(), agent });
    await ask(service, 'ada', 'a chart');
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } };
    expect(JSON.stringify(requests[1])).toContain(JSON.stringify(image));

    const store = service.container.resolve(ArtifactStore);
    const reference = store.keep({ owner: 'grace', data: png, mediaType: 'image/png', name: 'hers' });
    const run = { invocation: { actorId: 'ada' } };
    const artifact = Artifact.deferred({ reference, mediaType: 'image/png' });
    expect(store.resolve(artifact, { run } as never)).toBeUndefined();
  });
});

it('takes questions from users only, and only such as can be asked', async () => {
  const { url } = await start({ shop: testShop() });
  const status = async (path: string, init?: RequestInit): Promise<number> =>
    (await fetch(`${url}${path}`, init)).status;
  expect(await status('/session', json({ user: 'mallory' }))).toBe(400);
  expect(await status('/ask', json({ question: 'x' }))).toBe(401);
  expect(await status('/ask', json({ question: 'x' }, { Cookie: 'session=ada.x' }))).toBe(401);
  const ada = await signIn(url, 'ada');
  expect(
    await status(
      '/ask',
      json({ question: ada.Cookie.replace('ada', 'grace') }, { Cookie: ada.Cookie.replace('ada', 'grace') }),
    ),
  ).toBe(401);
  for (const question of [undefined, '', ' ', 7, 'x'.repeat(2_001)])
    expect(await status('/ask', json({ question }, ada))).toBe(400);
  const page = await fetch(url);
  expect(await page.text()).toContain('<title>Ask the shop</title>');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
});

describe('stopping', () => {
  it('lets answers under way come to their end, and takes no more', async () => {
    let finish = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const script = { create: async () => (await asked, { content: [{ type: 'text', text: 'In time.' }] }) };
    const agent = new Agent('test', true, anthropicLoop(script as never, 'test'));
    const { url, service } = await start({ shop: testShop(), agent });
    const headers = await signIn(url, 'ada');
    const events = eventsOf(await fetch(`${url}/ask`, json({ question: 'x' }, headers)));
    const first = await events.next();
    const stopped = service.stop();
    finish();
    const rest: Event[] = [];
    for await (const event of events) rest.push(event);
    expect([first.value, ...rest].slice(-2)).toEqual([{ type: 'text', text: 'In time.' }, { type: 'done' }]);
    await stopped;
    await expect(fetch(url)).rejects.toThrow();
  });

  it('cancels what takes longer than the grace', async () => {
    const { shop, started, stopped } = waitingShop();
    const { url, service } = await start({ shop, settings: { grace: 1 } });
    const response = await fetch(`${url}/ask`, json({ question: 'count' }, await signIn(url, 'ada')));
    await started;
    await service.stop();
    await stopped;
    const events: Event[] = [];
    for await (const event of eventsOf(response)) events.push(event);
    expect(events.at(-1)).toEqual({ type: 'error', message: 'The service is stopping.' });
  });
});

describe('with the real shop server', () => {
  it('shows each user their own orders, and hears of cancelled calls', async () => {
    const shop = await ShopServer.start();
    stops.push(() => shop.stop());
    const service = await start({ settings: { shopUrl: shop.url } });
    const texts = async (user: string): Promise<string> =>
      of(await ask(service, user, 'orders, a chart and an export'), 'result')
        .map(({ text }) => text)
        .join();
    const [ada, grace] = await Promise.all([texts('ada'), texts('grace')]);
    expect(ada).toContain('A-107');
    expect(ada).not.toContain('G-212');
    expect(grace).toContain('G-212');
    expect(grace).not.toContain('A-107');
    expect(shop.size).toBe(0);

    const gone = new AbortController();
    const cancelled = once(shop, 'cancelled');
    const headers = await signIn(service.url, 'ada');
    const response = await fetch(`${service.url}/ask`, {
      ...json({ question: 'count' }, headers),
      signal: gone.signal,
    });
    for await (const { type } of eventsOf(response)) if (type === 'call') break;
    gone.abort();
    await cancelled;
  });

  it('is refused without a token of the shop', async () => {
    const shop = await ShopServer.start();
    stops.push(() => shop.stop());
    expect((await fetch(shop.url, json({}))).status).toBe(401);
    expect((await fetch(shop.url, json({}, { Authorization: 'Bearer of-nobody' }))).status).toBe(401);
  });
});
