import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  ClientFactory,
  ConfigurationError,
  CreateClient,
  McpToolset,
  type ToolBinding,
  type ToolsetClass,
  type UnconnectedClient,
} from 'mcp-toolset';
import { createTestServer, type TestServer } from 'mcp-toolset/testing';
import { startRawHttp, tool } from '../servers';
import { closeRunsAfterEach, discover, faultOf, startRun } from './started-run';

closeRunsAfterEach();

const newClient = (): Client => new Client({ name: 'app', version: '1.0.0' });
const newServer = (): TestServer => createTestServer({ tools: { a: { call: () => 'a' } } });

/** A toolset whose factory returns, at its n-th call, what `make` does; the factory's bindings are kept. */
function shopOf(make: (call: number) => unknown): { Shop: ToolsetClass; bindings: ToolBinding[] } {
  const bindings: ToolBinding[] = [];
  @McpToolset()
  class Shop {
    @CreateClient()
    makeClient(binding: ToolBinding) {
      bindings.push(binding);
      return make(bindings.length) as UnconnectedClient;
    }
  }
  return { Shop, bindings };
}

describe('R5: what a client factory may not return', () => {
  const [transport] = InMemoryTransport.createLinkedPair();
  const wrong: [string, unknown, RegExp][] = [
    ['nothing', undefined, /it returned undefined/],
    ['null', null, /it returned null/],
    ['a number', 5, /it returned 5/],
    ['a symbol', Symbol('client'), /it returned Symbol\(client\)/],
    ['a function', () => undefined, /it returned /],
    ['an empty object', {}, /no official client/],
    ['an object without a prototype', Object.create(null), /no official client/],
    ['only a client', { client: newClient() }, /no transport/],
    ['only a transport', { transport }, /no official client/],
    ['the client itself', newClient(), /no official client/],
    ['the two exchanged', { client: transport, transport: newClient() }, /no official client/],
    ['an array of the two', [newClient(), transport], /no official client/],
    ['a class in place of a client', { client: Client, transport }, /no official client/],
    ['a client of another kind', { client: { callTool() {}, close() {} }, transport }, /no official client/],
    ['a transport that cannot send', { client: newClient(), transport: { start() {}, close() {} } }, /no transport/],
    ['a server', { client: new Server({ name: 's', version: '1' }), transport }, /no official client/],
  ];

  it.each(wrong)('%s', async (_, returned, expected) => {
    for (const make of [() => returned, () => Promise.resolve(returned)]) {
      const message = await faultOf(() => discover(shopOf(make).Shop));
      expect(message).toMatch(/^Toolset Shop, method makeClient: .*return \{ client, transport \}/);
      expect(message).toMatch(expected);
    }
  });

  it('a client that is connected already; it is closed', async () => {
    const server = newServer();
    const { Shop } = shopOf(async () => {
      const { client, transport: used } = await server.connect();
      await (client as Client).connect(used);
      return { client, transport: used };
    });
    expect(await faultOf(() => discover(Shop))).toMatch(/a client that is connected already/);
    expect(server.connections).toBe(0);
  });

  it('a connected client without its transport, or with a new one; it is closed', async () => {
    const server = newServer();
    const connected = async (): Promise<Client> => {
      const { client, transport: used } = await server.connect();
      await (client as Client).connect(used);
      return client as Client;
    };
    const [unused] = InMemoryTransport.createLinkedPair();
    for (const make of [
      connected,
      async () => ({ client: await connected() }),
      async () => [await connected()],
      async () => ({ client: await connected(), transport: unused }),
    ]) {
      await faultOf(() => discover(shopOf(make).Shop));
      expect(server.connections).toBe(0);
    }
  });

  it('an open transport alone; it is closed', async () => {
    const server = newServer();
    const { Shop } = shopOf(async () => ({ transport: (await server.connect()).transport }));
    expect(await faultOf(() => discover(Shop))).toMatch(/no official client/);
    expect(server.connections).toBe(0);
  });

  it.each<[string, () => unknown]>([
    ['rejects', () => Promise.reject(new Error('close rejected'))],
    [
      'throws',
      () => {
        throw new Error('close threw');
      },
    ],
  ])('and a close() that %s hides neither the fault nor the other part', async (_, close) => {
    const closed: string[] = [];
    const { Shop } = shopOf(() => ({
      client: { close },
      transport: { close: () => closed.push('transport') },
      close: () => closed.push('holder'),
    }));
    expect(await faultOf(() => discover(Shop))).toMatch(/no official client/);
    expect(closed).toEqual(['transport', 'holder']);
  });

  it('R28: and a close() that never ends keeps nobody waiting', async () => {
    const never = (): Promise<void> => new Promise(() => undefined);
    const { Shop } = shopOf(() => ({ client: { close: never }, transport: { close: never }, close: never }));
    expect(await faultOf(() => discover(Shop))).toMatch(/no official client/);
  });

  it('a transport that was used before', async () => {
    const http = await startRawHttp({ tools: [tool('a')] });
    const transports = [new StreamableHTTPClientTransport(new URL(http.url)), (await newServer().connect()).transport];
    for (const shared of transports) {
      const { Shop } = shopOf(() => ({ client: newClient(), transport: shared }));
      await discover(Shop);
      expect(await faultOf(() => discover(Shop))).toMatch(
        /Toolset Shop, method makeClient: .*transport that was used before.*a new transport/,
      );
    }
  });

  it('one client for two runs, in turn or at once', async () => {
    const server = newServer();
    let client = newClient();
    const { Shop } = shopOf(async () => ({ client, transport: (await server.connect()).transport }));
    await discover(Shop);
    expect(await faultOf(() => discover(Shop))).toMatch(/a client that is connected already/);
    expect(server.connections).toBe(0);

    client = newClient();
    const outcomes = await Promise.allSettled([discover(Shop), discover(Shop)]);
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    expect(errors.filter((error) => ConfigurationError.is(error))).toHaveLength(1);
    expect(server.connections).toBe(1); // that of the run that came first
  });

  it("is said of a container's own ClientFactory too", async () => {
    class Broken extends ClientFactory {
      override async create(): Promise<UnconnectedClient> {
        return null as unknown as UnconnectedClient;
      }
    }
    const run = startRun();
    run.container.register(ClientFactory, { useClass: Broken });
    @McpToolset({ connection: { url: 'https://unused.invalid' } })
    class Shop {}
    expect(await faultOf(() => discover(Shop, run))).toMatch(/^Toolset Shop, ClientFactory: it returned null/);
  });
});
