import { ProviderError, ToolError, type ToolExecution } from 'mcp-toolset';
import { leapingClock, LIMIT } from '../leaping-clock';
import { rawStdio, startRawHttp, tool } from '../servers';
import { closeAfterEach, serve, toolsetOf, unboundedToolset } from './served-tools';

closeAfterEach();
const clock = leapingClock();

const CODES = [
  ['parse error', -32700],
  ['invalid request', -32600],
  ['method not found', -32601],
  ['invalid params', -32602],
  ['internal error', -32603],
  ["the SDK's own for a closed connection", -32000],
  ["the SDK's own for a timeout", -32001],
  ['resource not found', -32002],
  ['URL elicitation required', -32042],
  ['an HTTP status', 404],
  ['another HTTP status', 500],
  ['zero', 0],
  ['minus one', -1],
  ['a big one', Number.MAX_SAFE_INTEGER],
] as const;

interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

async function overHttp({ code, message, data }: RpcError): Promise<ToolExecution> {
  const server = await startRawHttp({
    tools: [tool('answer')],
    call: (_params, exchange) => exchange.error(code, message, data),
  });
  return (await serve(toolsetOf(server.connection))).call();
}

async function overEventStream({ code, message, data }: RpcError): Promise<ToolExecution> {
  const server = await startRawHttp({
    tools: [tool('answer')],
    call: (_params, exchange) => exchange.sse().error(code, message, data).end(),
  });
  return (await serve(unboundedToolset(server.url))).call();
}

async function overStdio(error: RpcError): Promise<ToolExecution> {
  const server = await rawStdio<RpcError>({
    tools: [tool('answer')],
    data: error,
    call: (_params, { id, data, error: fail }) => fail(id, data.code, data.message, data.data),
  });
  return (await serve(toolsetOf(server.connection))).call();
}

describe('R26: a JSON-RPC error in reply to a call is a ToolError', () => {
  it.each(CODES)('with the message of the server: %s (%d)', async (_what, code) => {
    for (const way of [overHttp, overEventStream]) {
      const execution = await way({ code, message: 'The server says no.' });
      expect(execution).toMatchObject({
        status: 'error',
        content: 'The server says no.',
        value: undefined,
        artifacts: [],
      });
      expect(execution.error).toBeInstanceOf(ToolError);
      expect(execution.error).toMatchObject({
        message: 'The server says no.',
        toolset: 'served',
        outcome: undefined,
        cause: { code, message: 'The server says no.' },
      });
    }
  });

  it.each([-32000, -32001, -32601, -32042])('over stdio too (%d)', async (code) => {
    const execution = await overStdio({ code, message: 'The server says no.' });
    expect(execution).toMatchObject({ status: 'error', content: 'The server says no.' });
    expect(execution.error).toBeInstanceOf(ToolError);
  });

  it.each<[string, unknown]>([
    [
      'as the specification has it',
      { elicitations: [{ mode: 'url', elicitationId: '1', url: 'https://x.example', message: 'm' }] },
    ],
    ['without elicitations', { elicitations: null }],
    ['of another kind', 'text'],
    ['null', null],
  ])('keeps the data of an error, %s', async (_what, data) => {
    const execution = await overHttp({ code: -32042, message: 'Open the page first.', data });
    expect(execution).toMatchObject({ content: 'Open the page first.', error: { cause: { code: -32042, data } } });
  });

  it('has content also where the message is empty', async () => {
    const execution = await overHttp({ code: -32099, message: '' });
    expect(execution.status).toBe('error');
    expect(execution.error).toBeInstanceOf(ToolError);
    expect(execution.content).toMatch(/-32099/);
  });

  it.each(['MCP error -32000: Connection closed', 'Request timed out', 'Not connected', 'Connection closed'])(
    'is not misled by a message that looks like one of the SDK: %s',
    async (message) => {
      const execution = await overHttp({ code: -32000, message });
      expect(execution.content).toBe(message);
      expect(execution.error).toBeInstanceOf(ToolError);
    },
  );

  it('makes the content well-formed', async () => {
    expect((await overHttp({ code: 1, message: 'half \ud83d' })).content).toBe('half \ufffd');
  });

  it('shows a long message in full', async () => {
    const message = 'long '.repeat(10_000);
    expect((await overHttp({ code: 1, message })).content).toBe(message);
  });

  it('takes the credentials of the application out of the message', async () => {
    const server = await startRawHttp({
      tools: [tool('answer')],
      call: (_params, exchange) => exchange.error(-32000, `no such user: ${exchange.headers.authorization}`),
    });
    const headers = { Authorization: 'Bearer s3cr3t-t0ken' };
    const execution = await (await serve(toolsetOf({ ...server.connection, headers }))).call();
    expect(execution.content).toMatch(/^no such user: /);
    expect(execution.content).not.toContain('s3cr3t-t0ken');
    expect(JSON.stringify(execution.error)).not.toContain('s3cr3t-t0ken');
    expect((execution.error as Error).message).not.toContain('s3cr3t-t0ken');
  });

  it('takes the values of env options out of the message', async () => {
    const server = await rawStdio({
      tools: [tool('answer')],
      call: (_params, { id, error }) => error(id, -32000, `bad key ${process.env.API_KEY}`),
    });
    const env = { API_KEY: 's3cr3t-t0ken' };
    const execution = await (await serve(toolsetOf({ ...server.connection, env }))).call();
    expect(execution.content).toMatch(/^bad key /);
    expect(execution.content).not.toContain('s3cr3t-t0ken');
  });

  it('leaves the session usable', async () => {
    const server = await startRawHttp({
      tools: [tool('answer')],
      call: (_params, exchange) => (server.calls.length > 1 ? { content: [] } : exchange.error(-32000, 'once')),
    });
    const { call } = await serve(toolsetOf(server.connection));
    expect(await call()).toMatchObject({ status: 'error', content: 'once' });
    expect(await call()).toMatchObject({ status: 'success' });
  });
});

describe("R26: the SDK's own failures are no ToolError", () => {
  it('tells a connection that closes from a reply with its code', async () => {
    const server = await rawStdio({ tools: [tool('answer')], call: (_params, exchange) => exchange.exit(1) });
    const { error, content } = await (await serve(toolsetOf(server.connection))).call();
    expect(error).toBeInstanceOf(ProviderError);
    expect(content).toMatch(/^Tool failed \(ProviderError\)/);
  });

  it('tells a connection that is reset from a reply', async () => {
    const server = await startRawHttp({ tools: [tool('answer')], call: (_params, exchange) => exchange.destroy() });
    const { error } = await (await serve(toolsetOf(server.connection))).call();
    expect(error).toBeInstanceOf(ProviderError);
  });

  it('tells a timeout from a reply with its code', async () => {
    const server = await startRawHttp({ tools: [tool('answer')], call: (_params, exchange) => void exchange.hang() });
    const { call } = await serve(toolsetOf(server.connection, { timeout: LIMIT }));
    const calling = call();
    await server.waitFor('tools/call');
    clock.leap(LIMIT);
    const { error } = await calling;
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ outcome: 'unknown', message: expect.stringContaining(`${LIMIT} ms`) });
  });
});
