import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  childrenOf,
  closeServersAfterEach,
  everythingStdio,
  filesystemStdio,
  memoryStdio,
  startEverything,
  text,
  waitForNoChildren,
  type StdioCommand,
} from './index';

jest.setTimeout(30_000);
closeServersAfterEach();
afterEach(() => waitForNoChildren());

let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'kit-'))));
afterAll(() => rm(folder, { recursive: true }));

async function overStdio<T>(command: StdioCommand, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: 'kit', version: '1.0.0' });
  await client.connect(new StdioClientTransport({ ...command, stderr: 'ignore' }));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

describe('the reference servers', () => {
  it('run over HTTP, several at a time', async () => {
    const [one, two] = await Promise.all([startEverything(), startEverything()]);
    expect(one.url).not.toBe(two.url);
    for (const { url } of [one, two]) {
      const client = new Client({ name: 'kit', version: '1.0.0' });
      const transport = new StreamableHTTPClientTransport(new URL(url));
      await client.connect(transport);
      expect(await client.callTool({ name: 'echo', arguments: { message: 'hi' } })).toEqual(text('Echo: hi'));
      await client.close();
    }
    expect(childrenOf()).toHaveLength(2);
    await one.close();
    await one.close();
    expect(childrenOf().map(({ pid }) => pid)).toEqual([two.pid]);
  });

  it('run over stdio', async () => {
    await writeFile(join(folder, 'note.txt'), 'a note');
    const read = { name: 'read_text_file', arguments: { path: join(folder, 'note.txt') } };
    const [echo, note, graph] = await Promise.all([
      overStdio(everythingStdio(), (client) => client.callTool({ name: 'echo', arguments: { message: 'hi' } })),
      overStdio(filesystemStdio(folder), (client) => client.callTool(read)),
      overStdio(memoryStdio(join(folder, 'memory.jsonl')), (client) => client.callTool({ name: 'read_graph' })),
    ]);
    expect(echo).toEqual(text('Echo: hi'));
    expect(note).toMatchObject(text('a note'));
    expect(graph).toMatchObject({ structuredContent: { entities: [], relations: [] } });
  });
});
