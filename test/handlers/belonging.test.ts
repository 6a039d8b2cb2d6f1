import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { ElicitationRequest, HandlerContext, LogNotification, UnconnectedClient } from 'mcp-toolset';
import { closeServersAfterEach, rawStdio, startRawHttp, text, tool } from '../servers';
import { closeRunsAfterEach, gate } from '../contract/live-run';
import { form, replyTo, scene } from './asking';

closeServersAfterEach();
closeRunsAfterEach();

const CALLS = ['a', 'b', 'c', 'd', 'e'];
const seenBy = ({ mcpTool, arguments: args, callId }: HandlerContext) => ({ tool: mcpTool?.name, args, callId });

it('the call of a request and of a log is that of its stream, with calls that overlap over Streamable HTTP', async () => {
  const all = gate();
  let waiting = 0;
  const server = await startRawHttp({
    tools: CALLS.map((name) => tool(name)),
    call: async ({ name }, exchange) => {
      const stream = exchange.sse();
      if ((waiting += 1) === CALLS.length) all.open();
      await all.passed;
      stream.notify('notifications/message', { level: 'info', data: name });
      stream.request(`ask-${name}`, 'elicitation/create', { ...form({}), message: name });
      await replyTo(server, `ask-${name}`);
      stream.reply(text(name)).end();
    },
  });
  const asked: Record<string, object> = {};
  const logged: Record<string, object> = {};
  const { registry } = await scene(server, {
    elicit: (request: ElicitationRequest, context) => {
      asked[request.message] = seenBy(context);
      return { action: 'accept' };
    },
    log: ({ data }: LogNotification, context) => (logged[String(data)] = seenBy(context)),
  });
  await Promise.all(CALLS.map((name) => registry.execute({ id: `id-${name}`, name, input: { of: name } })));
  const own = Object.fromEntries(CALLS.map((name) => [name, { tool: name, args: { of: name }, callId: `id-${name}` }]));
  expect(asked).toEqual(own);
  expect(logged).toEqual(own);
});

it('is that of its stream also without parameters', async () => {
  const server = await startRawHttp({
    tools: [tool('a'), tool('b')],
    call: async ({ name }, exchange) => {
      const stream = exchange.sse();
      await server.waitFor('tools/call', 2);
      stream.request(`ask-${name}`, 'roots/list');
      await replyTo(server, `ask-${name}`);
      stream.reply(text(name)).end();
    },
  });
  const seen: (string | undefined)[] = [];
  const roots = (_request: object, { callId }: HandlerContext) => {
    seen.push(callId);
    return [];
  };
  const { registry } = await scene(server, { roots });
  await Promise.all(['a', 'b'].map((name) => registry.execute({ id: `id-${name}`, name })));
  expect(seen.sort()).toEqual(['id-a', 'id-b']);
});

it('is that of its stream also where the reply comes in the same piece, and none behind it', async () => {
  const server = await startRawHttp({
    tools: [tool('a')],
    call: (_params, exchange) => {
      const ask = (id: string): object => ({ jsonrpc: '2.0', id, method: 'roots/list' });
      const reply = { jsonrpc: '2.0', id: exchange.id, result: { content: [] } };
      const events = [ask('before'), reply, ask('behind')].map((message) => `data: ${JSON.stringify(message)}\n\n`);
      exchange.sse().write(events.join('')).end();
    },
  });
  const seen: (string | undefined)[] = [];
  const roots = (_request: object, { callId }: HandlerContext) => {
    seen.push(callId);
    return [];
  };
  const { registry } = await scene(server, { roots });
  await registry.execute({ id: 'call', name: 'a' });
  await Promise.all([replyTo(server, 'before'), replyTo(server, 'behind')]);
  expect(seen).toEqual(['call', undefined]);
});

it('over stdio it is the call that is being made', async () => {
  const server = await rawStdio({
    tools: [tool('first'), tool('second')],
    data: { open: 0 },
    call: ({ name }, exchange) => {
      exchange.data.open = exchange.id as number;
      exchange.request(`ask-${name}`, 'roots/list');
    },
    on: { response: (exchange) => exchange.reply(exchange.data.open, { content: [] }) },
  });
  const seen: object[] = [];
  const roots = (_request: object, context: HandlerContext) => {
    seen.push(seenBy(context));
    return [];
  };
  const { registry } = await scene(server, { roots });
  await Promise.all(['first', 'second'].map((name) => registry.execute({ id: name, name, input: { name } })));
  expect(seen).toEqual(['first', 'second'].map((name) => ({ tool: name, args: { name }, callId: name })));
});

it('is told to nobody where calls overlap and nothing says which one it is', async () => {
  const server = await rawStdio({
    tools: [tool('x')],
    data: { open: [] as number[] },
    call: (_params, exchange) => {
      exchange.data.open.push(exchange.id as number);
      if (exchange.data.open.length === 2) exchange.request('ask', 'roots/list');
    },
    on: { response: ({ data, reply }) => data.open.forEach((id) => reply(id, { content: [] })) },
  });
  const seen: HandlerContext[] = [];
  const roots = (_request: object, context: HandlerContext) => {
    seen.push(context);
    return [];
  };
  const { registry } = await scene(server, { roots }, { calls: 'overlapping' });
  await Promise.all([registry.execute({ name: 'x' }), registry.execute({ name: 'x' })]);
  expect(seen.map((context) => Object.keys(context).sort())).toEqual([['binding', 'signal']]);
});

it('in memory it is the one call that there is', async () => {
  const create = async (): Promise<UnconnectedClient> => {
    const [transport, end] = InMemoryTransport.createLinkedPair();
    const server = new Server({ name: 'memory', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [{ name: 'x', inputSchema: { type: 'object' as const } }],
    }));
    server.setRequestHandler(CallToolRequestSchema, async () => {
      const { roots } = await server.listRoots();
      return { content: roots.map(({ uri }) => ({ type: 'text' as const, text: uri })) };
    });
    await server.connect(end);
    return { client: new Client({ name: 'application', version: '1' }), transport };
  };
  const seen: object[] = [];
  const roots = (_request: object, context: HandlerContext) => {
    seen.push(seenBy(context));
    return [{ uri: 'file:///work' }];
  };
  const { registry } = await scene({ create }, { roots });
  const { content } = await registry.execute({ id: 'c', name: 'x', input: { a: 1 } });
  expect(content).toBe('file:///work');
  expect(seen).toEqual([{ tool: 'x', args: { a: 1 }, callId: 'c' }]);
});
