import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
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

function toolsetOf(server: RawHttpServer, Built: new (info: { name: string; version: string }) => Client = SlowClient) {
  @McpToolset()
  class Shop {
    @CreateClient()
    client() {
      const transport = new StreamableHTTPClientTransport(new URL(server.url));
      return { client: new Built({ name: 'slow', version: '1' }), transport };
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
    const tools = await registered([toolsetOf(server)]);
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
      return (await super.request(request, ...rest)) as never;
    }
  }
  const tools = await registered([toolsetOf(server, GatedClient)]);
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
  const tools = await registered([toolsetOf(server, CopyingClient)]);
  expect(await tools.execute({ name: 'a' })).toMatchObject({ status: 'success', value: { n: 1 } });
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
