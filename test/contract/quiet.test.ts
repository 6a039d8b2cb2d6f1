import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ClientFactory,
  type HttpConnectionOptions,
  McpToolsetError,
  type Run,
  type ToolRegistry,
  type ToolsetClass,
  type UnconnectedClient,
} from 'mcp-toolset';
import {
  closeServersAfterEach,
  rawStdio,
  startRawHttp,
  tool,
  type HttpExchange,
  type HttpHandler,
  type RawStdioScript,
  type ResponseStream,
  type StdioExchange,
} from '../servers';
import { closeRunsAfterEach, factoryToolset, httpClient, registered, startRun, toolsetFor } from './live-run';

// An unhandled rejection or an uncaught exception fails the whole file: see leak-environment.ts.
closeServersAfterEach();
closeRunsAfterEach();

function processListeners(): Record<string, number> {
  return Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)]));
}

/** Registers, calls and closes; every failure on the way is one of the library's own. Returns what happened. */
async function live(run: Run, toolset: ToolsetClass): Promise<string[]> {
  const story: string[] = [];
  const step = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
      story.push(name);
    } catch (error) {
      expect(error).toBeInstanceOf(McpToolsetError);
      story.push((error as McpToolsetError).code);
    }
  };
  let registry: ToolRegistry | undefined;
  await step('registered', async () => (registry = await registered(run, toolset)));
  for (const name of registry?.names ?? []) {
    await step('executed', async () => {
      const { status, error } = await registry!.execute({ name });
      if (status === 'error') expect(error).toBeInstanceOf(McpToolsetError);
    });
  }
  await step('closed', () => run.close());
  return story;
}

const json = { 'content-type': 'application/json' };
const rpc = (exchange: HttpExchange, fields: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id: exchange.id, ...fields });

/** What a server may do instead of answering. */
const deeds: Record<string, HttpHandler> = {
  'resets the connection': (exchange) => exchange.destroy(),
  'ends the connection in the middle of the headers': (exchange) => {
    exchange.req.socket.write('HTTP/1.1 200 OK\r\ncontent-');
    exchange.req.socket.end();
  },
  'answers with no HTTP at all': (exchange) => {
    exchange.req.socket.end('garbage\r\n\r\n');
  },
  'answers 500': (exchange) => exchange.raw(500, {}, 'broken'),
  'answers 404': (exchange) => exchange.raw(404, {}, 'gone'),
  'answers 200 with nothing': (exchange) => exchange.raw(200),
  'answers no JSON': (exchange) => exchange.raw(200, json, '{"jsonrpc":"2.0",'),
  'answers null': (exchange) => exchange.raw(200, json, 'null'),
  'answers an empty array': (exchange) => exchange.raw(200, json, '[]'),
  'answers with too short a body': (exchange) => exchange.raw(200, { ...json, 'content-length': 500 }, '{}'),
  'answers a broken compression': (exchange) => exchange.raw(200, { ...json, 'content-encoding': 'gzip' }, 'no gzip'),
  'answers another request': (exchange) => exchange.raw(200, json, '{"jsonrpc":"2.0","id":4711,"result":{}}'),
  'answers without an id': (exchange) => exchange.raw(200, json, '{"jsonrpc":"2.0","result":{}}'),
  'answers with an error of no shape': (exchange) => exchange.raw(200, json, rpc(exchange, { error: 'broken' })),
  'answers with an error without an id': (exchange) =>
    exchange.raw(200, json, '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}'),
  'answers with a result that is a number': (exchange) => exchange.raw(200, json, rpc(exchange, { result: 7 })),
  'answers with result and error': (exchange) =>
    exchange.raw(200, json, rpc(exchange, { result: {}, error: { code: 1, message: 'both' } })),
  'answers twice': (exchange) => void exchange.sse().reply({}).reply({ tools: 'no' }).error(1, 'and again').end(),
  'streams garbage': (exchange) => void exchange.sse().write('data: {\n\n: \u0000\n\nid\n\ndata\n\n').end(),
  'streams events of unknown kinds': (exchange) =>
    void exchange.sse().event('x', { event: 'surprise' }).event({ ok: true }).event('[1,2]').destroy(),
  'streams requests and notifications that nobody knows': (exchange) =>
    void exchange
      .sse()
      .request('a', 'sampling/createMessage', {})
      .request(7, 'roots/list')
      .request('b', 'no/such/method')
      .notify('no/such/notification')
      .notify('notifications/cancelled', { requestId: 4711 })
      .notify('notifications/cancelled', {})
      .notify('notifications/progress', { progressToken: 'unknown', progress: 1 })
      .notify('notifications/progress', { progress: 'no' })
      .notify('notifications/tools/list_changed')
      .notify('notifications/message', { level: 'no level' })
      .end(),
  'redirects to nowhere': (exchange) => exchange.raw(307, { location: 'http://127.0.0.1:9/' }),
  'redirects in a circle': (exchange) => exchange.raw(307, { location: exchange.path }),
  'asks for authentication': (exchange) => exchange.raw(401, { 'www-authenticate': 'Bearer resource_metadata="%"' }),
};

const moments = ['initialize', 'notifications/initialized', 'tools/list', 'tools/call', 'DELETE', 'GET'];

interface Listenable {
  readonly client: Client;
  readonly transport: Transport;
}

/** Has what the application listens by set in its client and transport, whatever they are. */
function listening(run: Run, listen: (parts: Listenable) => void): void {
  class Listening extends ClientFactory {
    override async create(...what: Parameters<ClientFactory['create']>): Promise<UnconnectedClient> {
      const parts = await super.create(...what);
      listen(parts as Listenable);
      return parts;
    }
  }
  run.container.register(ClientFactory, { useClass: Listening });
}

const throwing = (): never => {
  throw new Error('a listener that throws');
};

describe('R37: no unhandled rejection and no uncaught exception, whatever a server does over HTTP', () => {
  it.each(Object.keys(deeds))('a server that %s, at every moment', async (deed) => {
    const before = processListeners();
    const stories = await Promise.all(
      moments.flatMap(async (moment) => {
        const server = await startRawHttp({ tools: [tool('x')], on: { [moment]: deeds[deed]! } });
        const byOptions = toolsetFor(server.connection, { timeout: 1_000 });
        const byFactory = factoryToolset(() => httpClient(server.url), { timeout: 1_000 });
        return Promise.all([live(startRun(), byOptions), live(startRun(), byFactory)]);
      }),
    );
    for (const story of stories.flat()) expect(story.at(-1)).toBe('closed');
    expect(processListeners()).toEqual(before);
  });

  it('a server that refuses what the client takes back, where the listener of the application for errors throws', async () => {
    const server = await startRawHttp({
      tools: [tool('x')],
      call: () => undefined,
      on: { 'notifications/cancelled': (exchange) => exchange.raw(500) },
    });
    const parts = httpClient(server.url);
    parts.client.onerror = () => {
      throw new Error('a listener that throws');
    };
    const run = startRun();
    const registry = await registered(
      run,
      factoryToolset(() => parts),
    );
    const own = new AbortController();
    const cancelled = registry.execute({ name: 'x' }, { signal: own.signal });
    await server.waitFor('tools/call');
    own.abort();
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
    await server.waitFor('notifications/cancelled');
    await run.close();
  });

  it.each<[string, (parts: Listenable) => void]>([
    ['that listener', ({ client }) => (client.onerror = throwing)],
    ['that of the transport', ({ transport }) => (transport.onerror = throwing)],
  ])('a server that says what is no message before it replies, where %s throws', async (_whose, listen) => {
    const server = await startRawHttp({
      tools: [tool('x')],
      call: (_params, exchange) => void exchange.sse().event('garbage').reply({ content: [] }).end(),
    });
    const run = startRun();
    listening(run, listen);
    const registry = await registered(run, toolsetFor(server.connection));
    expect(await registry.execute({ name: 'x' })).toMatchObject({ status: 'success' });
    await run.close();
  });

  it('a stream that breaks, of a `fetch` of the application whose body does not let itself be stopped', async () => {
    const server = await startRawHttp({
      tools: [tool('x')],
      call: (_params, exchange) => void exchange.sse().write(': a\n\n').end(),
    });
    const broken: NonNullable<HttpConnectionOptions['fetch']> = async (url, init) => {
      const response = await fetch(url, init);
      if (!response.headers.get('content-type')?.includes('event-stream')) return response;
      const next = (): never => {
        throw new Error('it broke');
      };
      const stop = (): never => {
        throw new Error('no stop');
      };
      const body = { [Symbol.asyncIterator]: () => ({ next, return: stop }) };
      return Object.defineProperty(response, 'body', { value: body });
    };
    const registry = await registered(startRun(), toolsetFor({ ...server.connection, fetch: broken }));
    const { error } = await registry.execute({ name: 'x' });
    expect(String(error)).toContain('the event stream ended without the reply (it broke)');
  });

  it('a server that goes on talking when the call, and when the run, is over', async () => {
    const streams: ResponseStream[] = [];
    const server = await startRawHttp({
      tools: [tool('x')],
      call: (_params, exchange) => void streams.push(exchange.sse().progress(1)),
    });
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    const talk = (): void => {
      for (const stream of streams)
        stream.progress(2).reply({}).error(1, 'again').request('a', 'roots/list').event('garbage').write('data: {');
    };
    const answered = registry.execute({ name: 'x' });
    await server.waitFor('tools/call');
    talk();
    expect(await answered).toMatchObject({ status: 'success' });
    await server.waitFor('response');
    const own = new AbortController();
    const cancelled = registry.execute({ name: 'x' }, { signal: own.signal });
    cancelled.catch(() => undefined);
    await server.waitFor('tools/call', 2);
    own.abort();
    await expect(cancelled).rejects.toThrow();
    talk();
    const closing = run.close();
    talk();
    await closing;
    talk();
    await server.waitForNoRequests();
  });

  it('a server that stops in the middle of everything', async () => {
    const server = await startRawHttp({ tools: [tool('x')], call: () => undefined });
    const run = startRun();
    const registry = await registered(run, toolsetFor(server.connection));
    const calls = [1, 2, 3].map(() => registry.execute({ name: 'x' }));
    await server.waitFor('tools/call', 3);
    await server.stop();
    for (const execution of await Promise.all(calls)) expect(execution.status).toBe('error');
    await run.close();
  });

  it("an application's client whose own handlers are called as ever", async () => {
    const server = await startRawHttp({
      tools: [tool('x')],
      call: (_params, exchange) => exchange.raw(200, json, '['),
    });
    const unconnected = httpClient(server.url);
    const errors: Error[] = [];
    unconnected.client.onerror = (error) => void errors.push(error);
    const run = startRun();
    const toolset = factoryToolset(() => unconnected);
    expect(await live(run, toolset)).toEqual(['registered', 'executed', 'closed']);
    expect(errors).not.toEqual([]);
  });
});

/** What a child may do instead of answering; each runs inside the child. */
const childDeeds: Record<string, (exchange: StdioExchange) => unknown> = {
  exits: (exchange) => exchange.exit(3),
  'is killed': (exchange) => exchange.die(),
  'exits in the middle of a line': (exchange) => {
    exchange.write('{"jsonrpc":');
    exchange.exit();
  },
  'writes garbage': (exchange) => {
    exchange.write('garbage\n\n{}\n[]\nnull\n"x"\n{"jsonrpc":"2.0"}\n\u0000\uFFFD\n');
    return exchange.polite();
  },
  'answers everything twice': async (exchange) => {
    await exchange.polite();
    await exchange.polite();
  },
  'answers others': (exchange) => {
    exchange.reply(4711, {});
    exchange.reply('x', {});
    exchange.error(null, -32700, 'what?');
    return exchange.polite();
  },
  'asks and tells what nobody knows': (exchange) => {
    exchange.request('a', 'sampling/createMessage', {});
    exchange.request(7, 'no/such/method');
    exchange.notify('no/such/notification');
    exchange.notify('notifications/cancelled', { requestId: 4711 });
    exchange.notify('notifications/progress', { progressToken: 'unknown', progress: 1 });
    exchange.notify('notifications/tools/list_changed');
    return exchange.polite();
  },
  'is noisy on stderr': (exchange) => {
    exchange.stderr('noise\n'.repeat(50_000));
    return exchange.polite();
  },
  'exits right after its answer': async (exchange) => {
    await exchange.polite();
    exchange.exit();
  },
};

const childMoments = ['start', 'initialize', 'notifications/initialized', 'tools/list', 'tools/call', 'end'];

describe('R37: no unhandled rejection and no uncaught exception, whatever a child does', () => {
  it.each(Object.keys(childDeeds))('a child that %s, at every moment', async (deed) => {
    const before = processListeners();
    for (const moment of childMoments) {
      const script: RawStdioScript = { tools: [tool('x')], on: { [moment]: childDeeds[deed]! } };
      const server = await rawStdio(script);
      const story = await live(startRun(), toolsetFor(server.connection, { timeout: 5_000 }));
      expect([moment, story.at(-1)]).toEqual([moment, 'closed']);
      await server.waitForNoProcesses();
    }
    expect(processListeners()).toEqual(before);
  });

  it('a child that exits during a call, where the listener of the transport for its end throws', async () => {
    const server = await rawStdio({ tools: [tool('x')], call: (_params, exchange) => exchange.exit(3) });
    const told: unknown[] = [];
    const run = startRun();
    listening(run, ({ client, transport }) => {
      transport.onclose = throwing;
      client.onerror = (error) => void told.push(error.message);
    });
    const registry = await registered(run, toolsetFor(server.connection));
    const { error } = await registry.execute({ name: 'x' });
    expect(String(error)).toContain('exit code 3');
    await run.close();
    expect(told).toContain('a listener that throws');
  });

  it('a child that writes what is no message before it replies, where the listener of the transport throws', async () => {
    const server = await rawStdio({
      tools: [tool('x')],
      call: (_params, exchange) => (exchange.write('garbage\n'), { content: [] }),
    });
    const run = startRun();
    listening(run, ({ transport }) => (transport.onerror = throwing));
    const registry = await registered(run, toolsetFor(server.connection));
    expect(await registry.execute({ name: 'x' })).toMatchObject({ status: 'success' });
    await run.close();
  });

  it('a command that does not exist', async () => {
    const toolset = toolsetFor({ command: '/no/such/command' });
    expect(await live(startRun(), toolset)).toEqual(['provider_error', 'closed']);
  });

  it('a child that talks while it is being closed', async () => {
    const server = await rawStdio({
      tools: [tool('x')],
      on: {
        end: async (exchange) => {
          exchange.write('garbage\n');
          exchange.reply(1, {});
          exchange.request('a', 'roots/list');
          exchange.stderr('goodbye\n');
          await exchange.polite();
        },
      },
    });
    expect(await live(startRun(), toolsetFor(server.connection))).toEqual(['registered', 'executed', 'closed']);
    await server.waitForNoProcesses();
  });
});
