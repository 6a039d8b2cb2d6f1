import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { container } from 'tsyringe';
import {
  ArtifactResolver,
  RunFactory,
  ToolBinding,
  type ArtifactResolverContext,
  type DeferredArtifact,
} from 'mcp-toolset';
import house from '../../floors.json';
import { run as runBlock } from './compile';
import { blocksOf, documents } from './documents';

const ALICE = 'alice';
const SECRET = Buffer.from('of bob');

/** The files of two users, and one that never ends; to whoever asks for more, a secret. */
function answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
  if (url === '/alice/a%2Fb%20c.png') return void response.end('of alice');
  if (url !== '/alice/endless') return void response.writeHead(/^\/alice\/./.test(url) ? 404 : 200).end(SECRET);
  const chunk = Buffer.alloc(1_000);
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
}

describe('the resolver of docs/adapters.md', () => {
  const files = createServer(answer);
  let resolver: ArtifactResolver;

  beforeAll(async () => {
    await once(files.listen(0, '127.0.0.1'), 'listening');
    const { port } = files.address() as AddressInfo;
    const text = documents().find(({ file }) => file === 'docs/adapters.md')?.text ?? '';
    const block = blocksOf('docs/adapters.md', text).find(({ code }) => code.includes('extends ArtifactResolver'));
    if (!block) throw new Error('docs/adapters.md shows no resolver');
    const fetchFile = (url: string, init: RequestInit): Promise<Response> =>
      fetch(url.replace('https://files.example/', `http://127.0.0.1:${port}/`), init);
    await runBlock(block, { require, fetch: fetchFile });
    resolver = container.resolve(ArtifactResolver);
  });

  afterAll(async () => {
    files.closeAllConnections();
    await new Promise((resolve) => files.close(resolve));
  });

  async function bytesOf(reference: unknown, actorId = ALICE): Promise<string | undefined> {
    await using run = container.resolve(RunFactory).start({ actorId });
    const binding = new ToolBinding({ run, container: run.container });
    const context: ArtifactResolverContext = { run, binding, maxBytes: 50_000, signal: AbortSignal.timeout(20_000) };
    const found = await resolver.resolve({ kind: 'deferred', reference } as DeferredArtifact, context);
    return found && Buffer.from(found).toString();
  }

  it('finds the files of the user', async () => {
    expect(await bytesOf('a/b c.png')).toBe('of alice');
  });

  it.each(['../bob/secret', '..', '.', '', '%2e%2e/bob/secret', '..\\bob\\secret', '/../bob/secret', { a: 1 }])(
    "does not find another user's: %j",
    async (reference) => {
      expect(await bytesOf(reference)).toBeUndefined();
    },
  );

  it.each(['..', '.', ''])('takes no user for a path: %j', async (actorId) => {
    expect(await bytesOf('bob', actorId)).toBeUndefined();
  });

  it('reads no more than may be shown', async () => {
    const left = new Promise((resolve) => files.once('request', (_, response) => response.once('close', resolve)));
    expect(await bytesOf('endless')).toBeUndefined();
    await left;
  });
});

it('names every entry of an adapter in the README and in docs/adapters.md', () => {
  const { floors } = house;
  const entries = floors.flatMap((floor) => /^adapters\/(?!presentation$)(.+)/.exec(floor)?.[1] ?? []);
  expect(entries).toContain('anthropic');
  for (const name of ['README.md', 'docs/adapters.md']) {
    const text = documents().find(({ file }) => file === name)?.text ?? '';
    const told = name === 'README.md' ? (text.split(/^## /m).find((part) => part.startsWith('Agents\n')) ?? '') : text;
    expect(entries.filter((entry) => !told.includes(`mcp-toolset/${entry}`))).toEqual([]);
  }
});

it('lists the floors of floors.json in docs/architecture.md', () => {
  const text = documents().find(({ file }) => file === 'docs/architecture.md')?.text ?? '';
  const list = /From the ground up: (.*?)\./.exec(text)?.[1] ?? '';
  expect(list.split(', ')).toEqual(house.floors.map((floor) => `\`${floor}\``));
});
