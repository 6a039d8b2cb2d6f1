import 'reflect-metadata';
import { container } from 'tsyringe';
import { CatalogStore, ClientFactory, McpToolset, RunFactory, ToolRegistry } from 'mcp-toolset';
import { createTestServer, overrideClient } from 'mcp-toolset/testing';

const SECRET = 'hunter2';

@McpToolset({ connection: { url: 'https://mcp.example/rpc', headers: { Authorization: `Bearer ${SECRET}` } } })
class HelpCenterTools {}

@McpToolset({ connection: { url: `http://127.0.0.1:1/?key=${SECRET}`, allowInsecureHttp: true } })
class RemoteTools {}

@McpToolset({ connection: { command: 'node', env: { TOKEN: SECRET } } })
class ChildTools {}

/** Of each execution and of everything else that an application has of the library, one. */
export const NAMES = [
  ...['structured content', 'an image', 'an error', 'an unknown tool', 'a ProviderError', 'names', 'specifications'],
  ...['ToolRegistry', 'Run', 'ToolBinding', 'a tool', 'the class of a tool', 'an error of register()', 'TestServer'],
  ...['RunFactory', 'ClientFactory', 'CatalogStore', 'HTTP', 'stdio'],
];

/** What an expectation fails with: something of the library, and what a test may have expected in its place. */
export interface Thing {
  readonly actual: unknown;
  readonly expected: unknown;
}

const FOUND = ['About refunds'];
const EXPECTED = { status: 'success', value: FOUND, content: JSON.stringify(FOUND), artifacts: [] };

const png = { type: 'image', mimeType: 'image/png', data: Buffer.alloc(30_000).toString('base64') };

function testServer() {
  const server = createTestServer({
    tools: {
      search: {
        description: 'Searches the articles.',
        inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
        call: () => ({ articles: [{ title: 'About refunds' }] }),
      },
      draw: { call: () => ({ content: [{ type: 'text', text: 'A chart.' }, png] }) },
      refuse: {
        call: () => {
          throw new Error('The index is being rebuilt.');
        },
      },
      leave: { call: () => server.close() },
    },
  });
  return server;
}

async function make(): Promise<Record<string, Thing>> {
  const server = testServer();
  const scope = container.createChildContainer();
  overrideClient(scope, HelpCenterTools, server);
  await using run = scope.resolve(RunFactory).start({ id: 'run-1', actorId: 'ada' });
  const tools = run.resolve(ToolRegistry);
  await tools.register(HelpCenterTools);
  const { binding, names, specifications } = tools;
  const [search] = tools;
  const call = async (name: string): Promise<Thing> => ({ actual: await tools.execute({ name }), expected: EXPECTED });
  const transport = async (of: typeof RemoteTools) => (await new ClientFactory().create(of, binding)).transport;
  const other = (actual: unknown, expected: unknown = { state: 'as it was' }): Thing => ({ actual, expected });
  return {
    'structured content': await call('search'),
    'an image': await call('draw'),
    'an error': await call('refuse'),
    'an unknown tool': await call('seek'),
    'a ProviderError': await call('leave'),
    names: other(names, ['search', 'draw']),
    specifications: other(specifications.slice(0, 1), [{ ...specifications[0], description: 'Seeks.' }]),
    ToolRegistry: other(tools),
    Run: other(run),
    ToolBinding: other(binding),
    'a tool': other(search),
    'the class of a tool': other(search?.constructor, HelpCenterTools),
    'an error of register()': other(await tools.register(RemoteTools).catch((error: unknown) => error)),
    TestServer: other(server),
    RunFactory: other(scope.resolve(RunFactory)),
    ClientFactory: other(scope.resolve(ClientFactory)),
    CatalogStore: other(CatalogStore.over({ uri: `redis://:${SECRET}@cache` } as never)),
    HTTP: other(await transport(RemoteTools)),
    stdio: other(await transport(ChildTools)),
  };
}

const made = make();

/** One of them; the run that it comes from has been closed. */
export async function thing(name: string): Promise<Thing> {
  const found = (await made)[name];
  if (!found) throw new Error(`nothing is called ${name}`);
  return found;
}
