import { ProtocolError } from 'mcp-toolset';
import { closeServersAfterEach, rawStdio, tool, waitForNoChildren } from '../servers';
import { callOnce, connected, failureOf, rejectionOf } from './connected';

closeServersAfterEach();
afterEach(() => waitForNoChildren());

describe('R39: stderr', () => {
  it('is drained, and of megabytes only the tail is told', async () => {
    const server = await rawStdio({
      tools: [tool('a')],
      call: (_params, exchange) => {
        for (let line = 0; line < 4_000; line += 1) exchange.stderr(`${'noise '.repeat(200)}\n`);
        return { content: [{ type: 'text', text: 'ok' }] };
      },
      on: { ping: (exchange) => exchange.exit(1) },
    });
    await using session = await connected(server.connection);
    expect(await session.call()).toMatchObject({ content: 'ok' });
    server.tell((exchange) => (exchange.stderr('the last \u00e9 words'), exchange.exit(1))).catch(() => undefined);
    await server.waitForExit();
    const { message } = failureOf(await session.call());
    expect(message).toMatch(/the last \u00e9 words\.$/);
    expect(message.length).toBeLessThan(800);
  });

  it('is told without the values of `env`, also where the tail begins inside one', async () => {
    const token = 'token-'.repeat(250);
    const server = await rawStdio({
      tools: [tool('a')],
      call: (_params, exchange) => {
        for (let line = 0; line < 20; line += 1) exchange.stderr(`${process.env.TOKEN}\npin ${process.env.PIN}\n`);
        exchange.exit(1);
      },
    });
    const { message } = failureOf(await callOnce({ ...server.connection, env: { TOKEN: token, PIN: '7-8-9-0' } }));
    expect(message).toContain('pin [redacted]');
    expect(message).not.toContain('token-');
    expect(message).not.toContain('7-8-9-0');
  });
});

describe('R39: stdout', () => {
  it('may hold lines that are no messages', async () => {
    const server = await rawStdio({
      tools: [tool('a')],
      on: {
        start: (exchange) =>
          exchange.write('Server listening\n\n{"level":"info"}\nnull\n[]\n\u001b[32mok\u001b[0m\n{\n'),
      },
      call: (_params, exchange) => (exchange.write('debug: called\r\n'), { content: [{ type: 'text', text: 'ok' }] }),
    });
    expect(await callOnce(server.connection)).toMatchObject({ content: 'ok' });
  });

  it('may hold a message in many pieces, inside a character too, and two in one', async () => {
    const server = await rawStdio({
      tools: [tool('a')],
      call: async (_params, { id, write, method }) => {
        const reply = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: `\u{1f600} ${method}` }] } };
        const bytes = Buffer.from(`${JSON.stringify(reply)}\r`);
        for (let at = 0; at < bytes.length; at += 1) {
          await new Promise((written) => process.stdout.write(bytes.subarray(at, at + 1), written));
        }
        write('\n{"jsonrpc":"2.0","method":"notifications/x"}\n{"jsonrpc":"2.0","method":"notifications/y"}\n');
      },
    });
    expect(await callOnce(server.connection)).toMatchObject({ content: '\u{1f600} tools/call' });
  });
});

describe('R39: the first reply to a request counts', () => {
  it('also where an error to the same request comes in the same piece', async () => {
    const server = await rawStdio({
      tools: [tool('a')],
      call: (_params, { id, write }) => {
        const reply = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'ok' }] } };
        const late = { jsonrpc: '2.0', id, error: { code: 1, message: 'late' } };
        write(`${JSON.stringify(reply)}\n${JSON.stringify(late)}\n`);
      },
    });
    expect(await callOnce(server.connection)).toMatchObject({ status: 'success', content: 'ok' });
  });
});

describe('R39: a flood of lines', () => {
  it('that are empty or no messages costs no more than reading them', async () => {
    const server = await rawStdio({
      tools: [tool('a')],
      call: (_params, exchange) => {
        exchange.write('\n'.repeat(1024 * 1024));
        exchange.write('garbage\n'.repeat(64 * 1024));
        return { content: [{ type: 'text', text: 'ok' }] };
      },
    });
    expect(await callOnce(server.connection)).toMatchObject({ content: 'ok' });
  }, 20_000);
});

describe('R39: maxMessageBytes bounds one message', () => {
  const LIMIT = 1_000;
  const sized = {
    tools: [tool('a')],
    call: (
      { arguments: args }: { arguments?: Record<string, unknown> },
      { id, write }: { id: unknown; write(text: string): void },
    ) => {
      const { bytes = 0, count = 1, pieces = 1 } = args as { bytes?: number; count?: number; pieces?: number };
      const reply = (content: string): string =>
        JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: content }] } });
      const line = `${reply('x'.repeat(bytes - reply('').length))}\n`;
      const all = line.repeat(count);
      for (let piece = 0; piece < pieces; piece += 1) {
        write(all.slice((piece * all.length) / pieces, ((piece + 1) * all.length) / pieces));
      }
    },
  };

  it.each([
    ['in one chunk', { bytes: LIMIT + 1 }],
    ['in many chunks', { bytes: 50 * LIMIT, pieces: 50 }],
    ['without end', { bytes: 5_000 * LIMIT, pieces: 100 }],
  ])('that comes %s: a ProtocolError, and the session is closed', async (_what, input) => {
    const server = await rawStdio(sized);
    await using session = await connected({ ...server.connection, maxMessageBytes: LIMIT });
    const execution = await session.call(input);
    expect(failureOf(execution)).toBeInstanceOf(ProtocolError);
    expect(failureOf(execution)).toMatchObject({ outcome: 'unknown' });
    expect(failureOf(execution).message).toContain(`a message of more than ${LIMIT} bytes (limit maxMessageBytes)`);
    const later = failureOf(await session.call({ bytes: 100 }));
    expect(later).toMatchObject({ name: 'ProviderError', outcome: 'not-sent' });
    expect(later.message).toContain('the session is closed: the server sent a message of more than');
    expect(later.message).toMatch(/limit maxMessageBytes\)\. A new run has a new one\.$/);
    await server.waitForExit();
  });

  it('and not what happens to come together', async () => {
    const server = await rawStdio(sized);
    await using session = await connected({ ...server.connection, maxMessageBytes: LIMIT });
    for (const input of [{ bytes: LIMIT }, { bytes: LIMIT, count: 20 }, { bytes: LIMIT, count: 20, pieces: 7 }]) {
      expect(await session.call(input)).toMatchObject({ status: 'success' });
    }
  });

  it('at 10 MiB by default', async () => {
    const server = await rawStdio(sized);
    await using session = await connected(server.connection);
    expect(await session.call({ bytes: 10 * 1024 * 1024 })).toMatchObject({ status: 'success' });
    expect(failureOf(await session.call({ bytes: 10 * 1024 * 1024 + 1 })).message).toContain('limit maxMessageBytes');
  });

  it('also while connecting', async () => {
    const server = await rawStdio({ on: { start: (exchange) => exchange.write('x'.repeat(2_000)) } });
    const failure = await rejectionOf(connected({ ...server.connection, maxMessageBytes: LIMIT }));
    expect(failure).toBeInstanceOf(ProtocolError);
    expect(String(failure)).toContain('initialize: the server sent a message of more than 1000 bytes');
  });
});
