import type { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  childrenOf,
  closeServersAfterEach,
  isAlive,
  rawStdio,
  servers,
  text,
  tool,
  waitForNoChildren,
  type StdioCommand,
} from './index';

closeServersAfterEach();
afterEach(() => waitForNoChildren());

interface Connected {
  client: Client;
  transport: StdioClientTransport;
}

async function connected(connection: StdioCommand): Promise<Connected> {
  const client = new Client({ name: 'kit', version: '1.0.0' });
  const transport = new StdioClientTransport({ ...connection, stderr: 'pipe' });
  await client.connect(transport);
  return { client, transport };
}

describe('rawStdio', () => {
  it('is polite by default', async () => {
    const server = await rawStdio({ tools: [tool('search', { title: 'Line\u2028separator' })] });
    const { client, transport } = await connected(server.connection);

    expect((await client.listTools()).tools).toEqual([tool('search', { title: 'Line\u2028separator' })]);
    expect(await client.callTool({ name: 'search', arguments: { q: '\u2028' } })).toEqual(text('{"q":"\u2028"}'));
    await client.ping();
    await expect(client.listPrompts()).rejects.toThrow();
    expect(server.pid).toBe(transport.pid);
    expect(childrenOf().map(({ pid }) => pid)).toEqual([server.pid]);
    expect(server.calls).toMatchObject([{ name: 'search', arguments: { q: '\u2028' } }]);
    expect(server.received.map(({ method }) => method).slice(0, 2)).toEqual([
      'initialize',
      'notifications/initialized',
    ]);

    await client.close();
    await server.waitForExit();
    expect(server.events.slice(-2).map(({ method }) => method)).toEqual(['end', 'exit']);
  });

  it('runs functions in the child, with data that each child has for itself', async () => {
    const server = await rawStdio({
      data: { count: 0, names: ['a', 'b'] },
      tools: (_params, { data }) => data.names.map((name) => ({ name, inputSchema: { type: 'object' } })),
      call({ name }, { data }) {
        data.count += 1;
        return { content: [{ type: 'text', text: `${name} ${data.count}` }] };
      },
    });
    const [one, two] = await Promise.all([connected(server.connection), connected(server.connection)]);
    expect((await one.client.listTools()).tools.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(await one.client.callTool({ name: 'a' })).toEqual(text('a 1'));
    expect(await one.client.callTool({ name: 'a' })).toEqual(text('a 2'));
    expect(await two.client.callTool({ name: 'b' })).toEqual(text('b 1'));
    expect(server.pids).toHaveLength(2);
    await Promise.all([one.client.close(), two.client.close()]);
    await server.waitForExit(2);
  });

  it('says anything at any moment', async () => {
    const server = await rawStdio({
      on: {
        'tools/call'(exchange) {
          exchange.write('this is no JSON\n');
          exchange.reply('unknown id', {});
          exchange.progress(1);
        },
      },
    });
    const { client } = await connected(server.connection);
    const errors: Error[] = [];
    client.onerror = (error) => errors.push(error);
    const outcome = new Promise((resolve) => {
      const onprogress = (): void => {
        const { id } = server.received.at(-1)?.message as { id: number };
        void server.tell(({ reply, data }) => reply(data.id, { content: [] }), { id });
      };
      resolve(client.callTool({ name: 'x' }, undefined, { onprogress }));
    });
    expect(await outcome).toEqual({ content: [] });
    expect(errors).toHaveLength(2);

    const heard = new Promise<unknown>((resolve) => (client.fallbackNotificationHandler = async (n) => resolve(n)));
    expect(await server.tell(({ notify, data }) => notify('notifications/odd', data), { a: 'b' })).toBeUndefined();
    expect(await heard).toMatchObject({ method: 'notifications/odd', params: { a: 'b' } });
    expect(await server.tell(() => process.pid)).toBe(server.pid);
    await client.close();
  });

  it('dies when it is told to, all of its output sent and its input recorded', async () => {
    const server = await rawStdio({
      call: (_params, exchange) => {
        exchange.stderr(`${'noise '.repeat(500_000)}the last words\n`);
        exchange.exit(3);
      },
    });
    const { client, transport } = await connected(server.connection);
    const stderr = textOf(transport.stderr as Readable);
    await expect(client.callTool({ name: 'fatal' })).rejects.toThrow('closed');
    await server.waitForExit();
    expect((await stderr).length).toBe(3_000_015);
    expect(server.calls).toMatchObject([{ name: 'fatal' }]);

    server.script = { on: { start: (exchange) => exchange.die() } };
    await expect(connected(server.connection)).rejects.toThrow('closed');
    await server.waitForExit(2);
  });

  it('ignores the end of stdin and SIGTERM, and has a grandchild that keeps stdout open', async () => {
    const server = await rawStdio({
      ignoreSigterm: true,
      ignoreStdinEnd: true,
      call: (_params, exchange) => exchange.reply(exchange.id, { pid: exchange.spawnGrandchild(), content: [] }),
    });
    const { client } = await connected(server.connection);
    const result = await client.callTool({ name: 'x' });
    const grandchild = await server.waitFor('grandchild');
    expect(grandchild.pid).toBe(result.pid);
    expect(childrenOf().map(({ pid }) => pid)).toEqual([server.pid, grandchild.pid]);

    const closing = client.close();
    await server.waitFor('end');
    process.kill(server.pid ?? NaN, 'SIGTERM');
    await server.waitFor('SIGTERM');
    await server.tell((exchange) => exchange.die());
    await server.waitForExit();
    expect(isAlive(grandchild.pid)).toBe(true);
    await server.close();
    expect(isAlive(grandchild.pid)).toBe(false);
    await closing;
  });

  it('ends what is left at close, busy children included, and says what was waited for in vain', async () => {
    const server = await rawStdio({
      ignoreSigterm: true,
      on: {
        'tools/call': () => {
          for (;;);
        },
      },
    });
    const { client } = await connected(server.connection);
    const call = expect(client.callTool({ name: 'x' })).rejects.toThrow('closed');
    await server.waitFor('tools/call');
    const vain = expect(server.waitFor('never')).rejects.toThrow('"never" (1). It received: start, initialize');
    await Promise.all([server.close(), server.close()]);
    await Promise.all([call, vain]);
    await server.waitForNoProcesses();
    expect(childrenOf()).toEqual([]);
    expect(servers.size).toBe(0);
  });

  it('fails a test whose handler throws', async () => {
    const server = await rawStdio({ call: () => (undefined as unknown as { typo(): void }).typo() });
    const { client } = await connected(server.connection);
    await expect(client.callTool({ name: 'x' })).rejects.toThrow('A handler of the script threw');
    await expect(server.tell(() => (undefined as unknown as { odd(): void }).odd())).rejects.toThrow('odd');
    await expect(servers.closeAll()).rejects.toThrow('typo');
  });

  it('fails a test whose script cannot run in the child', async () => {
    const server = await rawStdio({ on: { start: Object.keys } });
    await expect(connected(server.connection)).rejects.toThrow('closed');
    await expect(server.close()).rejects.toThrow('A handler of the scripted server threw: SyntaxError');
  });
});
