import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { ToolExecution, UnconnectedClient } from 'mcp-toolset';
import { tool } from '../servers';
import { closeRunsAfterEach, factoryToolset, registered, startRun } from './live-run';
import { RawMemory, type MemoryHandler } from './raw-memory';

closeRunsAfterEach();

/** The execution of a call to a server in memory, whose transport hands on whatever it is given. */
async function executionOf(
  call: MemoryHandler,
  change: (parts: UnconnectedClient & { transport: Listening }) => void = () => undefined,
): Promise<ToolExecution> {
  const server = new RawMemory({ 'tools/list': () => ({ result: { tools: [tool('a')] } }), 'tools/call': call });
  const toolset = factoryToolset(() => {
    const parts = server.connect() as UnconnectedClient & { transport: Listening };
    change(parts);
    return parts;
  });
  return (await registered(startRun(), toolset)).execute({ name: 'a' });
}

interface Listening {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  send(message: never): Promise<void>;
}

const done: MemoryHandler = () => ({ result: { content: [{ type: 'text', text: 'done' }] } });

describe('a transport that does not check what it receives', () => {
  it.each([
    ['unsent', {}],
    ['http', { status: 404, body: '' }],
    ['something else', {}],
  ])('R26: an error that claims to be of the kind "%s" is an error in reply all the same', async (kind, fields) => {
    const execution = await executionOf(() => ({ error: { ...fields, kind, code: -32000, message: 'No stock' } }));
    expect(execution).toMatchObject({ status: 'error', content: 'No stock', error: { code: 'tool_error' } });
    expect(execution.error).toMatchObject({ outcome: undefined });
  });

  it.each([
    ['without a message', { code: -32000 }],
    ['with a message that is a number', { code: -32000, message: 5 }],
    ['without a code', { message: 'No stock' }],
    ['with a code that is no whole number', { code: 0.5, message: 'No stock' }],
    ['that is a text', 'No stock'],
    ['that is null', null],
  ])('R42: an error %s is an answer that cannot be read, at once', async (_what, error) => {
    const { error: failure } = await executionOf(() => ({ error }));
    expect(failure).toMatchObject({ code: 'protocol_error', outcome: 'unknown' });
    expect(String(failure)).toContain('has no code or no message');
  });

  it('R12: so is one while it is connecting', async () => {
    const server = new RawMemory({ initialize: () => ({ error: { code: -32000 } }) });
    const registering = registered(
      startRun(),
      factoryToolset(() => server.connect()),
    );
    await expect(registering).rejects.toMatchObject({ code: 'protocol_error' });
  });
});

describe('what the application’s own listeners and transports throw', () => {
  it('R42: costs no reply', async () => {
    const heard: unknown[] = [];
    const execution = await executionOf(done, ({ transport }) => {
      transport.onmessage = (message) => {
        heard.push(message);
        if ('result' in message && 'content' in message.result) throw new Error('the listener is broken');
      };
    });
    expect(execution).toMatchObject({ status: 'success', content: 'done' });
    expect(heard).toHaveLength(3);
  });

  it('R35: does not keep a call waiting that the end of the connection cuts off', async () => {
    const { error } = await executionOf(
      () => undefined,
      ({ transport }) => {
        transport.onclose = () => {
          throw new Error('the listener is broken');
        };
        const send = transport.send.bind(transport);
        transport.send = async (message: never) => {
          await send(message);
          if ((message as { method?: string }).method === 'tools/call') expect(transport.onclose).toThrow('broken');
        };
      },
    );
    expect(error).toMatchObject({ code: 'provider_error', outcome: 'unknown' });
    expect(String(error)).toContain('the server closed the connection');
  });

  it.each([undefined, null])('R42: is the reason why sending failed, also where it is %s', async (thrown) => {
    const { error } = await executionOf(done, ({ transport }) => {
      const send = transport.send.bind(transport);
      transport.send = (message: never) =>
        (message as { method?: string }).method === 'tools/call' ? Promise.reject(thrown) : send(message);
    });
    expect(error).toMatchObject({ code: 'provider_error', outcome: 'unknown' });
    expect(String(error)).toMatch(`: ${String(thrown)}.`);
  });
});
