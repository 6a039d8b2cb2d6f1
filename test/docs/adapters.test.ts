import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { container } from 'tsyringe';
import {
  ArtifactResolver,
  CancelledError,
  RunFactory,
  ToolBinding,
  ToolRegistry,
  type ArtifactResolverContext,
  type DeferredArtifact,
  type Run,
} from 'mcp-toolset';
import house from '../../floors.json';
import { options, run as runBlock, typeErrors } from './compile';
import { blocksOf, documents, type Block } from './documents';
import { PRELUDE } from './prelude';

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

const text = documents().find(({ file }) => file === 'docs/adapters.md')?.text ?? '';
const blocks = blocksOf('docs/adapters.md', text).filter(({ language }) => language === 'ts');

/** The one block that has a text in it. */
function blockWith(code: string): Block {
  const [block, ...others] = blocks.filter((candidate) => candidate.code.includes(code));
  if (!block || others.length > 0) throw new Error(`docs/adapters.md has not one block with ${code}`);
  return block;
}

describe.each<[string, object]>([
  ['client.messages.create', { content: [{ type: 'text', text: 'Done.' }] }],
  ['client.responses.create', { output: [], output_text: 'Done.' }],
  ['client.chat.completions.create', { choices: [{ message: { role: 'assistant', content: 'Done.' } }] }],
])('the loop of docs/adapters.md over %s', (method, said) => {
  type Loop = (client: unknown, registry: ToolRegistry, question: string) => Promise<unknown>;

  async function answer(during: (run: Run) => void): Promise<unknown> {
    await using run = container.resolve(RunFactory).start();
    const create = (_: unknown, { signal }: { signal?: AbortSignal }): Promise<object> => {
      expect(signal).toBe(run.signal);
      during(run);
      return Promise.resolve(said);
    };
    const client = { messages: { create }, responses: { create }, chat: { completions: { create } } };
    const { answer: loop } = (await runBlock(blockWith(method), { require })) as { answer: Loop };
    return await loop(client, run.resolve(ToolRegistry), 'Go.');
  }

  it('answers, and its requests have the signal of the run', async () => {
    expect(JSON.stringify(await answer(() => undefined))).toContain('Done.');
  });

  it('throws where the last answer comes after the end of the run', async () => {
    await expect(answer((run) => run.cancel())).rejects.toThrow(CancelledError);
  });
});

describe('the resolver of docs/adapters.md', () => {
  const files = createServer(answer);
  let resolver: ArtifactResolver;

  beforeAll(async () => {
    await once(files.listen(0, '127.0.0.1'), 'listening');
    const { port } = files.address() as AddressInfo;
    const block = blockWith('extends ArtifactResolver');
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

it('shows adapters in examples that compile with the types of a browser too', () => {
  const settings = { ...options(), lib: [...(options().lib ?? []), 'lib.dom.d.ts'] };
  expect(typeErrors(blocks, PRELUDE, settings)).toEqual([]);
}, 120_000);

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
