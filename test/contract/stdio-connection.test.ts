import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProtocolError, ProviderError, type ToolExecution } from 'mcp-toolset';
import { closeServersAfterEach, isAlive, rawStdio, tool, waitForNoChildren } from '../servers';
import { callOnce, connected, failureOf, rejectionOf } from './connected';

closeServersAfterEach();
afterEach(() => waitForNoChildren());

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'mcp toolset \u00fc ')));
afterAll(() => rmSync(directory, { recursive: true }));

function valueOf(execution: ToolExecution): unknown {
  expect(execution.status).toBe('success');
  return JSON.parse(execution.content);
}

describe('R39: the child is started', () => {
  const environment = { tools: [tool('a')], call: () => ({ structuredContent: { ...process.env }, content: [] }) };

  it('with a safe environment and `env`, not with that of this process', async () => {
    process.env.PARENT_SECRET = 'of the parent';
    try {
      const server = await rawStdio(environment);
      const connection = { ...server.connection, env: { OWN: 'own \u00e9 value', HOME: '/elsewhere', EMPTY: '' } };
      const seen = valueOf(await callOnce(connection));
      expect(seen).toMatchObject({ OWN: 'own \u00e9 value', HOME: '/elsewhere', EMPTY: '', PATH: process.env.PATH });
      const safe = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];
      expect(
        Object.keys(seen as object)
          .filter((name) => !safe.includes(name) && name !== 'PWD')
          .sort(),
      ).toEqual(['EMPTY', 'OWN']);
      expect(valueOf(await callOnce(server.connection))).not.toHaveProperty('PARENT_SECRET');
    } finally {
      delete process.env.PARENT_SECRET;
    }
  });

  it('in `cwd`', async () => {
    const server = await rawStdio({
      tools: [tool('a')],
      call: () => ({ content: [{ type: 'text', text: process.cwd() }] }),
    });
    expect(await callOnce({ ...server.connection, cwd: directory })).toMatchObject({ content: directory });
    expect(await callOnce(server.connection)).toMatchObject({ content: process.cwd() });
  });

  it('with `args` as they are, and by a path with spaces', async () => {
    const server = await rawStdio({
      tools: [tool('a')],
      call: () => ({ structuredContent: process.argv.slice(4), content: [] }),
    });
    const args = ['two words', '\u65e5\u672c\u{1f600}', '', '"quoted"', '$HOME', '*', "it's; ls", '\\', 'a\nb'];
    const link = join(directory, 'a server.cjs');
    writeFileSync(link, `require(${JSON.stringify(server.args[0])});`);
    const connection = { ...server.connection, args: [link, ...server.args.slice(1), ...args] };
    expect(valueOf(await callOnce(connection))).toEqual(args);
  });

  it.each([
    ['is missing', { command: 'no-such-command-1f3a' }, 'no-such-command-1f3a ENOENT'],
    ['is no executable', { command: directory }, 'EACCES'],
    ['has no working directory', { command: process.execPath, cwd: join(directory, 'none') }, 'ENOENT'],
  ])('and a command that %s is a ProviderError', async (_what, connection, said) => {
    const failure = await rejectionOf(connected(connection));
    expect(failure).toBeInstanceOf(ProviderError);
    expect(String(failure)).toContain('Toolset Tested, initialize: the server cannot be reached: spawn');
    expect(String(failure)).toContain(said);
    await using session = await connected(connection, { optional: true });
    expect(session.tools.names).toEqual([]);
  });

  it.each([
    ['env', { env: { TOKEN: 'hidden\0' } }, 'env.TOKEN'],
    ['args', { args: ['a', 'b\0'] }, 'args.1'],
    ['cwd', { cwd: 'a\0' }, 'cwd'],
    ['command', { command: 'a\0' }, 'command'],
    ['a variable that is no string', { env: { TOKEN: 5 as never } }, 'env.TOKEN'],
    ['an unknown option', { shell: true }, 'unknown option "shell"'],
  ])('and what no process can be given is a ConfigurationError: %s', async (_what, faulty, named) => {
    const failure = await rejectionOf(connected({ command: 'node', ...faulty }));
    expect(failure).toMatchObject({ name: 'ConfigurationError', message: expect.stringContaining(named) as string });
    expect(String(failure)).not.toContain('hidden');
  });
});

describe('R39: a child that ends', () => {
  it('at once is a ProviderError with the last lines of its stderr', async () => {
    const server = await rawStdio({
      on: { start: (exchange) => (exchange.stderr('no licence found\n'), exchange.exit(1)) },
    });
    const failure = await rejectionOf(connected(server.connection));
    expect(failure).toBeInstanceOf(ProviderError);
    expect(String(failure)).toContain('initialize: ');
    expect(String(failure)).toContain('the last lines of its stderr: no licence found');
  });

  it.each(['exit', 'die'])(
    'during a call, by %s, leaves its outcome unknown, and later calls are not sent',
    async (way) => {
      const server = await rawStdio({
        data: way,
        tools: [tool('a')],
        call: (_params, exchange) => {
          exchange.stderr('a fatal error\n');
          if (exchange.data === 'die') exchange.die();
          else exchange.exit(0);
        },
      });
      await using session = await connected(server.connection);
      const failure = failureOf(await session.call());
      expect(failure).toMatchObject({ name: 'ProviderError', outcome: 'unknown' });
      expect(failure.message).toContain('the last lines of its stderr: a fatal error');
      const later = failureOf(await session.call());
      expect(later).toMatchObject({ name: 'ProviderError', outcome: 'not-sent' });
      expect(server.calls).toHaveLength(1);
    },
  );

  it('right after its reply has replied', async () => {
    const server = await rawStdio({
      tools: [tool('a')],
      call: (_params, exchange) => {
        exchange.reply(exchange.id, { content: [{ type: 'text', text: 'x'.repeat(500_000) }] });
        exchange.exit(0);
      },
    });
    expect((await callOnce(server.connection)).content).toHaveLength(500_000);
  });

  it('while a grandchild keeps its output open has ended all the same', async () => {
    const server = await rawStdio({
      tools: [tool('a')],
      call: (_params, exchange) => (exchange.spawnGrandchild(), exchange.exit(3)),
    });
    await using session = await connected(server.connection);
    expect(failureOf(await session.call())).toMatchObject({ name: 'ProviderError', outcome: 'unknown' });
    expect(server.pids.some(isAlive)).toBe(false);
  });

  it('its output and lives on has closed the connection', async () => {
    const server = await rawStdio({
      tools: [tool('a')],
      ignoreStdinEnd: true,
      call: () => process.getBuiltinModule('node:fs').closeSync(1),
    });
    const failure = failureOf(await callOnce(server.connection));
    expect(failure).toMatchObject({ name: 'ProviderError', outcome: 'unknown' });
    expect(server.pids.some(isAlive)).toBe(false);
  });
});

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
    expect(later.message).toContain('limit maxMessageBytes');
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

describe('R39: closing leaves no child', () => {
  it.each([
    ['is polite', {}],
    ['ignores the end of its stdin', { ignoreStdinEnd: true }],
    ['ignores SIGTERM as well', { ignoreStdinEnd: true, ignoreSigterm: true }],
  ])('that %s', async (_what, manners) => {
    const server = await rawStdio({ tools: [tool('a')], call: () => ({ content: [] }), ...manners });
    await callOnce(server.connection);
    expect(server.pids.some(isAlive)).toBe(false);
  });

  it('that neither connects nor ends', async () => {
    const server = await rawStdio({
      on: { initialize: (exchange) => exchange.hang() },
      ignoreStdinEnd: true,
      ignoreSigterm: true,
    });
    const failure = await rejectionOf(connected({ ...server.connection, timeout: 300 }));
    expect(failure).toBeInstanceOf(ProviderError);
    expect(String(failure)).toContain('no answer within 300 ms');
    await server.waitForNoProcesses();
  });

  it('nor holds on to a grandchild that keeps its output open', async () => {
    const server = await rawStdio({
      tools: [tool('a')],
      call: (_params, exchange) => (exchange.spawnGrandchild(), { content: [{ type: 'text', text: 'ok' }] }),
    });
    expect(await callOnce(server.connection)).toMatchObject({ content: 'ok' });
    expect(server.pids.some(isAlive)).toBe(false);
  });
});
