import { Client, type ClientOptions } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { SessionRegistry, type UnconnectedClient } from 'mcp-toolset';
import { container } from 'tsyringe';
import { closeServersAfterEach, rawStdio, startRawHttp, tool, type RawHttpServer } from '../servers';
import { closeRunsAfterEach } from '../contract/live-run';
import { faultOf } from '../contract/started-run';
import { ask, askingServer, scene, type HandlerMethods, type Source } from './asking';

closeServersAfterEach();
closeRunsAfterEach();

const elicit = () => ({ action: 'decline' as const });
const sample = () => ({ role: 'assistant' as const, model: 'none', content: { type: 'text', text: '' } });
const roots = () => [];
const told = () => undefined;

const ELICITATION = { elicitation: { form: {}, url: {} } };
const cases: [string, HandlerMethods, object][] = [
  ['none', {}, {}],
  ['@OnElicitation', { elicit }, ELICITATION],
  ['@OnSampling', { sample }, { sampling: { tools: {} } }],
  ['@ListRoots', { roots }, { roots: {} }],
  ['those that are only told', { progress: told, log: told, changed: told }, {}],
  ['all', { elicit, sample, roots, log: told }, { ...ELICITATION, sampling: { tools: {} }, roots: {} }],
];

function client(url: string, options: ClientOptions = {}, prepare: (client: Client) => void = () => undefined) {
  const made = new Client({ name: 'application', version: '1.0.0' }, options);
  prepare(made);
  return { client: made, transport: new StreamableHTTPClientTransport(new URL(url)) } satisfies UnconnectedClient;
}

async function announced(server: RawHttpServer, source: Source, handlers: HandlerMethods): Promise<unknown> {
  await scene(source, handlers);
  return (await server.waitFor('initialize')).params.capabilities;
}

describe('the capabilities that a client announces', () => {
  it.each(cases)('follow from the handlers of a toolset with a connection: %s', async (_, handlers, expected) => {
    const server = await startRawHttp({ tools: [tool('x')] });
    expect(await announced(server, server, handlers)).toEqual(expected);
  });

  it.each(cases)('follow from the handlers of a toolset with @CreateClient: %s', async (_, handlers, expected) => {
    const server = await startRawHttp({ tools: [tool('x')] });
    expect(await announced(server, { create: () => client(server.url) }, handlers)).toEqual(expected);
  });

  it('follow from the handlers over stdio', async () => {
    const server = await rawStdio({ tools: [tool('x')] });
    await scene(server, { elicit, sample, roots });
    const { message } = await server.waitFor('initialize');
    expect(message).toMatchObject({
      params: { capabilities: { ...ELICITATION, sampling: { tools: {} }, roots: {} } },
    });
  });

  it("stand beside those that the application's own client announces", async () => {
    const server = await startRawHttp({ tools: [tool('x')] });
    const own: ClientOptions = {
      capabilities: {
        experimental: { shop: { a: 1 } },
        roots: { listChanged: true },
        sampling: { context: {} },
        elicitation: { form: { applyDefaults: true } },
      },
    };
    const create = () => client(server.url, own);
    expect(await announced(server, { create }, { elicit, sample, roots })).toEqual({
      experimental: { shop: { a: 1 } },
      roots: { listChanged: true },
      sampling: { context: {}, tools: {} },
      elicitation: { form: { applyDefaults: true }, url: {} },
    });
  });

  it("are the application's alone where no handler needs one", async () => {
    const server = await startRawHttp({ tools: [tool('x')] });
    const create = () => client(server.url, { capabilities: { sampling: {} } });
    expect(await announced(server, { create }, { progress: told })).toEqual({ sampling: {} });
  });

  it('leave the options object that the application gave as it was', async () => {
    const server = await startRawHttp({ tools: [tool('x')] });
    const own = { capabilities: { elicitation: { form: {} } } };
    await announced(server, { create: () => client(server.url, own) }, { elicit });
    expect(own).toEqual({ capabilities: { elicitation: { form: {} } } });
  });
});

describe("a handler that the application's own client has too", () => {
  const conflicts: [string, HandlerMethods, string, (client: Client) => void][] = [
    ['elicit', { elicit }, 'elicitation/create', (own) => own.setRequestHandler(ElicitRequestSchema, elicit)],
    [
      'sample',
      { sample },
      'sampling/createMessage',
      (own) => own.setRequestHandler(CreateMessageRequestSchema, () => ({ ...sample(), content: [] })),
    ],
    ['roots', { roots }, 'roots/list', (own) => own.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [] }))],
    [
      'log',
      { log: told },
      'notifications/message',
      (own) => own.setNotificationHandler(LoggingMessageNotificationSchema, told),
    ],
    [
      'changed',
      { changed: told },
      'notifications/tools/list_changed',
      (own) => own.setNotificationHandler(ToolListChangedNotificationSchema, told),
    ],
  ];
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };

  it.each(conflicts)('R2: is a ConfigurationError that names both: %s', async (method, handlers, request, prepare) => {
    const server = await startRawHttp({ tools: [tool('x')] });
    const create = () => client(server.url, { capabilities }, prepare);
    const fault = await faultOf(() => scene({ create }, handlers));
    expect(fault).toContain(`Toolset Asking, method ${method}: `);
    expect(fault).toContain(`handles ${request} itself`);
    expect(server.requests).toEqual([]);
    expect(container.resolve(SessionRegistry).size).toBe(0);
  });

  it('is none where they handle different things: each answers its own', async () => {
    const server = await askingServer();
    const prepare = (own: Client) =>
      own.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///own' }] }));
    const create = () => client(server.url, { capabilities }, prepare);
    const { registry } = await scene({ create }, { elicit });
    expect(await ask(registry, 'roots/list')).toEqual({ result: { roots: [{ uri: 'file:///own' }] } });
    expect(
      await ask(registry, 'elicitation/create', { message: 'a', requestedSchema: { type: 'object', properties: {} } }),
    ).toEqual({ result: { action: 'decline' } });
  });
});
