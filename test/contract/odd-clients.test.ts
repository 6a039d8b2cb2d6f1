import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Implementation, JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { CreateClient, McpToolset, ToolError } from 'mcp-toolset';
import { startRawHttp, text, tool, type RawHttpServer } from '../servers';
import { closeRunsAfterEach, registered } from './started-run';

closeRunsAfterEach();

/** A client of the application's that does something else before it sends. */
class SlowClient extends Client {
  override async request(...request: Parameters<Client['request']>): Promise<never> {
    await new Promise((resolve) => setImmediate(resolve));
    return (await super.request(...request)) as never;
  }
}

/** A client of the application's that sends a copy of what it is given. */
class CopyingClient extends Client {
  override async request(...[request, ...rest]: Parameters<Client['request']>): Promise<never> {
    return (await super.request(structuredClone(request), ...rest)) as never;
  }
}

/** A client of the application's that sends once more what has failed. */
class RetryingClient extends Client {
  override async request(...request: Parameters<Client['request']>): Promise<never> {
    try {
      return (await super.request(...request)) as never;
    } catch {
      return (await super.request(...request)) as never;
    }
  }
}

/** A client of the application's that puts something between itself and its transport, which gives requests other ids. */
class RenamingClient extends Client {
  override connect(inner: Transport, ...rest: [options?: object]): Promise<void> {
    const renamed = (message: JSONRPCMessage, by: number, isReply: boolean): JSONRPCMessage =>
      'id' in message && 'method' in message !== isReply ? { ...message, id: Number(message.id) + by } : message;
    const outer: Transport = {
      start() {
        inner.onmessage = (message, extra) => outer.onmessage?.(renamed(message, -1, true), extra);
        inner.onclose = () => outer.onclose?.();
        inner.onerror = (error) => outer.onerror?.(error);
        return inner.start();
      },
      send: (message, options) => inner.send(renamed(message, 1, false), options),
      close: () => inner.close(),
    };
    return super.connect(outer, ...rest);
  }
}

/** A client of the application's around one of the SDK's, to which it passes a copy. */
function wrapped(client: Client): Client {
  const request = (...[first, ...rest]: Parameters<Client['request']>): unknown =>
    client.request(structuredClone(first), ...rest);
  return new Proxy(client, {
    get: (target, key) => (key === 'request' ? request : (Reflect.get(target, key) as unknown)),
  });
}

function toolsetOf(server: RawHttpServer, build: (info: Implementation) => Client) {
  @McpToolset()
  class Shop {
    @CreateClient()
    client() {
      const transport = new StreamableHTTPClientTransport(new URL(server.url));
      return { client: build({ name: 'odd', version: '1' }), transport };
    }
  }
  return Shop;
}

describe('R26, R42: an application that extends the official client', () => {
  it('gets results, and errors as what they are, also where its client waits before it sends', async () => {
    const server = await startRawHttp({
      tools: [tool('a'), tool('b'), tool('c')],
      call: ({ name }, x) => {
        if (name === 'a') return text('done');
        if (name === 'b') x.error(-32001, 'no such thing');
        else x.raw(503);
        return undefined;
      },
    });
    const tools = await registered([toolsetOf(server, (info) => new SlowClient(info))]);
    const executions = await Promise.all(['a', 'b', 'c'].map((name) => tools.execute({ name })));
    expect(executions[0]).toMatchObject({ status: 'success', value: 'done' });
    expect(executions[1]).toMatchObject({ error: expect.any(ToolError), content: 'no such thing' });
    expect(executions[2]).toMatchObject({ error: { name: 'ProviderError', outcome: 'unknown' } });
  });
});

it('R26, R31: a call that is cancelled while the client of the application still waits is never sent', async () => {
  const server = await startRawHttp({ tools: [tool('a'), tool('b')], call: () => text('done') });
  const clients: Client[] = [];
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  class GatedClient extends Client {
    constructor(...parts: ConstructorParameters<typeof Client>) {
      super(...parts);
      clients.push(this);
    }
    override async request(...[request, ...rest]: Parameters<Client['request']>): Promise<never> {
      if ((request.params as { readonly name?: unknown } | undefined)?.name === 'a') await gate;
      // Without the options, in which there is a signal for such a client.
      return (await super.request(request, rest[0])) as never;
    }
  }
  const tools = await registered([toolsetOf(server, (info) => new GatedClient(info))]);
  const own = new AbortController();
  const cancelled = tools.execute({ name: 'a' }, { signal: own.signal });
  own.abort();
  await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
  open();
  expect(await tools.execute({ name: 'b' })).toMatchObject({ status: 'success', value: 'done' });
  expect(server.requests.map(({ method }) => method)).not.toContain('notifications/cancelled');
  expect(server.calls.map(({ name }) => name)).toEqual(['b']);
  const [client] = clients as unknown as { readonly _responseHandlers: Map<unknown, unknown> }[];
  expect(client?._responseHandlers.size).toBe(0);
});

it('R26, R42: a client of the application that sends a copy of the request loses no result', async () => {
  const server = await startRawHttp({ tools: [tool('a')], call: () => text('done', { structuredContent: { n: 1 } }) });
  const tools = await registered([toolsetOf(server, (info) => new CopyingClient(info))]);
  expect(await tools.execute({ name: 'a' })).toMatchObject({ status: 'success', value: { n: 1 } });
});

it('R26, R42: a client of the application that gives its requests other ids mixes up no calls', async () => {
  const server = await startRawHttp({
    tools: [tool('a')],
    call: async ({ arguments: given }) => {
      await server.waitFor('tools/call', 3);
      return text(String(given?.n));
    },
  });
  const tools = await registered([toolsetOf(server, (info) => new RenamingClient(info))]);
  const calls = [1, 2, 3].map((n) => tools.execute({ name: 'a', input: { n } }));
  expect((await Promise.all(calls)).map(({ content }) => content)).toEqual(['1', '2', '3']);
});

it.each<[string, (info: Implementation) => Client, number]>([
  ['sends a copy', (info) => new CopyingClient(info), 1],
  ['sends it again where it fails', (info) => new RetryingClient(info), 2],
  ["wraps the SDK's", (info) => wrapped(new Client(info)), 1],
])('R28, R31: what is cancelled is taken back, and forgotten, where a client %s', async (_what, build, sendings) => {
  const server = await startRawHttp({
    tools: [tool('a')],
    call: (_params, exchange) => (server.calls.length < sendings ? exchange.raw(503) : undefined),
  });
  let client: Client | undefined;
  const tools = await registered([toolsetOf(server, (info) => (client = build(info)))]);
  const own = new AbortController();
  const cancelled = tools.execute({ name: 'a' }, { signal: own.signal });
  const { id } = await server.waitFor('tools/call', sendings);
  own.abort();
  await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
  expect((await server.waitFor('notifications/cancelled')).params).toMatchObject({ requestId: id });
  expect((client as unknown as { _responseHandlers: Map<unknown, unknown> })._responseHandlers.size).toBe(0);
});

it('R5: a client of the application is told of notifications that nothing else hears, where it wants to be', async () => {
  const server = await startRawHttp({
    tools: [tool('a')],
    call: (_params, exchange) => void exchange.sse().notify('notifications/x', { n: 1 }).reply(text('done')).end(),
  });
  const heard: unknown[] = [];
  const build = (info: Implementation): Client => {
    const client = new Client(info);
    client.fallbackNotificationHandler = async (notification) => void heard.push(notification.params);
    return client;
  };
  const tools = await registered([toolsetOf(server, build)]);
  expect(await tools.execute({ name: 'a' })).toMatchObject({ value: 'done' });
  expect(heard).toEqual([{ n: 1 }]);
});

describe('R5: a transport of the application', () => {
  it('may have members of any name: only those of the SDK mean something', async () => {
    const server = await startRawHttp({ tools: [tool('a')], call: () => text('done') });
    const odd = { settled: true, redact: 5, endReason: () => 5, requestIdOf: () => 7, hasAuthorization: false };
    @McpToolset()
    class Shop {
      @CreateClient()
      client() {
        const transport = new StreamableHTTPClientTransport(new URL(server.url));
        return { client: new Client({ name: 'odd', version: '1' }), transport: Object.assign(transport, odd) };
      }
    }
    const tools = await registered([Shop]);
    expect(await tools.execute({ name: 'a' })).toMatchObject({ status: 'success', value: 'done' });
  });
});
