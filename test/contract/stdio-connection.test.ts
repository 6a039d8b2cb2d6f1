import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { ProviderError, type ToolExecution } from 'mcp-toolset';
import { leapingClock, LIMIT } from '../leaping-clock';
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

describe('R39: a child that cannot be started', () => {
  it('is told without its arguments, in which some servers want an API key', async () => {
    const failure = await rejectionOf(connected({ command: '/no/such/server', args: ['--key=sesame-12345'] }));
    expect(failure).toMatchObject({ code: 'provider_error', cause: { code: 'ENOENT', path: '/no/such/server' } });
    expect(inspect(failure, { depth: null, showHidden: true })).not.toContain('sesame');
  });
});

describe('R39: a child that does not answer', () => {
  const clock = leapingClock();

  it('is told with what it wrote that is no message, without the secrets', async () => {
    const server = await rawStdio({
      on: {
        initialize: (exchange) => {
          exchange.stderr(`waiting for ${process.env.KEY}\n`);
          exchange.write(`Listening with ${process.env.KEY} and ${process.env.LONG}\nand more\n`);
          exchange.request('after', 'ping');
        },
      },
    });
    const connection = { ...server.connection, env: { KEY: 'sesame-12345', LONG: 'x'.repeat(500) }, timeout: LIMIT };
    const failure = rejectionOf(connected(connection));
    await server.waitFor('response');
    clock.leap(LIMIT);
    expect(String(await failure)).toMatch(
      new RegExp(
        `initialize: no answer within ${LIMIT} ms; a line of its stdout that is no message of the protocol: ` +
          'Listening with \\[redacted\\] and \\[redacted\\]; the last lines of its stderr: waiting for \\[redacted\\]\\. Raise',
      ),
    );
  });
});

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
    expect(String(failure)).toContain(
      'Toolset Tested, initialize: the server cannot be reached: its process could not be started: spawn',
    );
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
    expect(String(failure)).toContain("the server's process has ended with exit code 1; ");
    expect(String(failure)).toContain('the last lines of its stderr: no licence found');
  });

  it.each([
    ['exit', 'has ended with exit code 0;'],
    ['die', 'was ended by SIGKILL;'],
  ])('during a call, by %s, leaves its outcome unknown, and later calls are not sent', async (way, ending) => {
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
    expect(failure.message).toContain(ending);
    expect(failure.message).toContain('the last lines of its stderr: a fatal error');
    const later = failureOf(await session.call());
    expect(later).toMatchObject({ name: 'ProviderError', outcome: 'not-sent' });
    expect(later.message).toMatch(/the session is closed: .*: a fatal error\. A new run has a new one\.$/);
    expect(server.calls).toHaveLength(1);
  });

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

  it.each([
    ['now and then', "setInterval(() => process.stdout.write('on\\n'), 1)"],
    [
      'faster than it is read',
      "(function on(end) { end ? process.exit() : process.stdout.write('on\\n'.repeat(5_000), on); })()",
    ],
  ])('while a grandchild writes on without end, %s, has ended all the same', async (_pace, writing) => {
    const server = await rawStdio({
      tools: [tool('a')],
      data: `${writing}; process.stdout.on('error', () => process.exit())`,
      call: (_params, exchange) => {
        const { spawn } = process.getBuiltinModule('node:child_process');
        const writer = spawn(process.execPath, ['-e', exchange.data], { stdio: ['ignore', 'inherit', 'ignore'] });
        writer.once('spawn', () => (exchange.stderr(`writer ${writer.pid}`), exchange.exit(3)));
      },
    });
    const failure = failureOf(await callOnce(server.connection));
    expect(failure).toMatchObject({ name: 'ProviderError', outcome: 'unknown' });
    const [, pid] = /writer (\d+)/.exec(failure.message) ?? [];
    expect(pid).toBeDefined();
    // It ends when it finds that nobody reads what it writes.
    while (isAlive(Number(pid))) await setImmediate();
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

describe('R39: a child that closes its input', () => {
  it('and lives on has closed the connection, as soon as something is sent', async () => {
    const server = await rawStdio({
      tools: [tool('a')],
      ignoreStdinEnd: true,
      call: () => {
        process.stdin.destroy();
        process.getBuiltinModule('node:fs').closeSync(0);
        return { content: [] };
      },
    });
    await using session = await connected(server.connection);
    expect(await session.call()).toMatchObject({ status: 'success' });
    expect(failureOf(await session.call())).toMatchObject({ name: 'ProviderError', outcome: 'unknown' });
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
