import {
  CleanupError,
  ConfigurationError,
  RunFactory,
  SessionRegistry,
  Tool,
  ToolBinding,
  ToolRegistry,
  ToolsetDiscovery,
  type RunResource,
} from 'mcp-toolset';
import { container } from 'tsyringe';
import { closeServersAfterEach, startRawHttp, tool } from '../servers';
import { closeRunsAfterEach, factoryToolset, gate, httpClient, registered, startRun, toolsetFor } from './live-run';

closeServersAfterEach();
closeRunsAfterEach();

const sessions = new SessionRegistry();

/** Resources that note in `closed` when they are closed. */
function noting(closed: string[]): (name: string) => RunResource {
  return (name) => ({ close: () => void closed.push(name) });
}

async function cleanupErrorOf(closing: Promise<void>): Promise<CleanupError> {
  const error: unknown = await closing.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CleanupError);
  return error as CleanupError;
}

describe('R34: a run closes what is registered with it', () => {
  it('in reverse order, one after the other', async () => {
    const closed: string[] = [];
    const run = startRun();
    for (const name of ['a', 'b', 'c']) {
      run.register({
        close: async () => {
          closed.push(`${name} begins`);
          await new Promise((resolve) => setImmediate(resolve));
          closed.push(`${name} ends`);
        },
      });
    }
    await run.close();
    expect(closed).toEqual(['c begins', 'c ends', 'b begins', 'b ends', 'a begins', 'a ends']);
  });

  it('of every kind, by the first way to close it', async () => {
    const closed: string[] = [];
    const note = (name: string) => (): void => void closed.push(name);
    const run = startRun();
    run.register({ dispose: note('dispose') });
    run.register({ [Symbol.dispose]: note('Symbol.dispose'), dispose: note('wrong') });
    run.register({ [Symbol.asyncDispose]: async () => note('Symbol.asyncDispose')(), [Symbol.dispose]: note('wrong') });
    run.register({ close: note('close'), [Symbol.asyncDispose]: async () => note('wrong')() });
    class Connection {
      readonly name = 'this';
      close(): void {
        closed.push(this.name);
      }
    }
    run.register(new Connection());
    await run.close();
    expect(closed).toEqual(['this', 'close', 'Symbol.asyncDispose', 'Symbol.dispose', 'dispose']);
  });

  it('refuses what cannot be closed', () => {
    const run = startRun();
    for (const odd of [{}, { close: true }, { dispose: 'no' }]) {
      expect(() => run.register(odd as unknown as RunResource)).toThrow(ConfigurationError);
    }
  });

  it('returns what is registered, and closes it once, however often it is registered', async () => {
    const closed: string[] = [];
    const run = startRun();
    const resource = noting(closed)('once');
    expect(run.register(resource)).toBe(resource);
    run.register(resource);
    await run.close();
    await run.close();
    expect(closed).toEqual(['once']);
  });

  it('once: every further call returns the same promise, also while it closes, also when it fails', async () => {
    const closed: string[] = [];
    const run = startRun();
    const door = gate();
    run.register(noting(closed)('first'));
    run.register({ close: () => door.passed });
    const closing = run.close();
    expect(run.close()).toBe(closing);
    expect(run[Symbol.asyncDispose]()).toBe(closing);
    expect(closed).toEqual([]);
    door.open();
    await closing;
    expect(run.close()).toBe(closing);
    expect(closed).toEqual(['first']);

    const failing = startRun();
    failing.register({ close: () => Promise.reject(new Error('broken')) });
    const failed = failing.close();
    await expect(failed).rejects.toThrow(CleanupError);
    expect(failing.close()).toBe(failed);
  });

  it('also when a resource closes the run itself, or a listener of its signal does', async () => {
    const run = startRun();
    const promises: Promise<void>[] = [];
    run.register({ close: () => void promises.push(run.close()) });
    run.signal.addEventListener('abort', () => void promises.push(run.close()));
    const closing = run.close();
    await closing;
    expect(promises).toEqual([closing, closing]);
    expect(promises.every((promise) => promise === closing)).toBe(true);
  });

  it('all of it when some fail, and then tells of each', async () => {
    const closed: string[] = [];
    const run = startRun();
    const note = noting(closed);
    const [late, early, odd] = [new Error('async'), new Error('sync'), 'no error'];
    run.register(note('a'));
    run.register({ close: () => Promise.reject(late) });
    run.register(note('b'));
    run.register({
      [Symbol.dispose]: () => {
        throw early;
      },
    });
    run.register({ dispose: () => Promise.reject(odd) });
    run.register(note('c'));
    const error = await cleanupErrorOf(run.close());
    expect(error.errors).toEqual([odd, early, late]);
    expect(error.errors[1]).toBe(early);
    expect(error.message).toContain(run.id);
    expect(closed).toEqual(['c', 'b', 'a']);
    expect(run.state).toBe('closed');
  });

  it('with the failures of a CleanupError one by one', async () => {
    const run = startRun();
    const [one, two] = [new Error('one'), new Error('two')];
    const three = new Error('three');
    run.register({ close: () => Promise.reject(new CleanupError('several', { errors: [one, two] })) });
    run.register({ close: () => Promise.reject(three) });
    expect((await cleanupErrorOf(run.close())).errors).toEqual([three, one, two]);
  });

  it('with `await using`, also when the controller throws', async () => {
    const closed: string[] = [];
    const work = async (): Promise<void> => {
      await using run = new RunFactory(container.createChildContainer()).start();
      run.register(noting(closed)('closed'));
      throw new Error('the controller failed');
    };
    await expect(work()).rejects.toThrow('the controller failed');
    expect(closed).toEqual(['closed']);
  });

  it('when it was cancelled or came too late, all the same', async () => {
    const closed: string[] = [];
    const cancelled = startRun();
    const late = startRun({ deadline: new Date(Date.now() - 1) });
    for (const run of [cancelled, late]) run.register(noting(closed)(run.id));
    cancelled.cancel();
    expect(closed).toEqual([]);
    await Promise.all([cancelled.close(), late.close()]);
    expect(closed.sort()).toEqual([cancelled.id, late.id].sort());
  });
});

describe('R34: sessions, registries and tools', () => {
  it('sessions close together, in parallel, at the place of the first of them', async () => {
    const server = await startRawHttp({ tools: [tool('x')] });
    const closed: string[] = [];
    const note = noting(closed);
    const meeting = gate();
    let closing = 0;
    const toolsetThatMeets = (prefix: string): ReturnType<typeof factoryToolset> =>
      factoryToolset(
        () => {
          const unconnected = httpClient(server.url);
          const { transport } = unconnected;
          const close = transport.close.bind(transport);
          transport.close = async () => {
            if (++closing === 3) meeting.open();
            await meeting.passed;
            closed.push('session');
            await close();
          };
          return unconnected;
        },
        { tools: { prefix } },
      );
    const run = startRun();
    run.register(note('before'));
    const discovery = new ToolsetDiscovery();
    const binding = new ToolBinding({ run });
    await discovery.discover(toolsetThatMeets('a'), binding);
    run.register(note('between'));
    await discovery.discover(toolsetThatMeets('b'), binding);
    await discovery.discover(toolsetThatMeets('c'), binding);
    run.register(note('after'));
    await run.close();
    expect(closed).toEqual(['after', 'between', 'session', 'session', 'session', 'before']);
    expect(sessions.size).toBe(0);
  });

  it('every session is closed when one fails to, and the failure is in the CleanupError as it is', async () => {
    const server = await startRawHttp({ tools: [tool('x')] });
    const failures = [new Error('first'), new Error('second')];
    const toolsets = [...failures, undefined].map((failure, index) =>
      factoryToolset(
        () => {
          const unconnected = httpClient(server.url);
          const close = unconnected.transport.close.bind(unconnected.transport);
          unconnected.transport.close = async () => {
            await close();
            if (failure) throw failure;
          };
          return unconnected;
        },
        { tools: { prefix: `p${index}_` } },
      ),
    );
    const run = startRun();
    const broken = new Error('broken');
    await registered(run, ...toolsets);
    run.register({ close: () => Promise.reject(broken) });
    const error = await cleanupErrorOf(run.close());
    const [first, ...others] = error.errors;
    expect(first).toBe(broken);
    expect(new Set(others)).toEqual(new Set(failures)); // these were closed in parallel
    expect(others).toHaveLength(2);
    expect(server.sessions).toEqual([]);
    expect(sessions.size).toBe(0);
  });

  class Closable extends Tool {
    static override toolName = 'made';
    static override description = 'Made by the registry.';
    static override inputSchema = { type: 'object' };
    static closed: Tool[] = [];
    override call(): string {
      return 'done';
    }
    override close(): void {
      Closable.closed.push(this);
    }
  }
  class Handed extends Closable {
    static override toolName = 'handed';
  }

  it('a run closes its registry, which closes the tools that it made, not those that it was handed', async () => {
    Closable.closed = [];
    const run = startRun();
    const registry = run.resolve(ToolRegistry);
    const own = new ToolRegistry(new ToolBinding({ run }));
    const handed = new Handed();
    await registry.register(Closable, handed);
    await own.register(Closable);
    const made = [registry.get('made'), own.get('made')];
    await run.close();
    expect(Closable.closed).toEqual([made[1], made[0]]);
    expect(Closable.closed).not.toContain(handed);
  });

  it('a registry without a run closes its sessions, in any number of calls', async () => {
    const server = await startRawHttp({ tools: [tool('a'), tool('b')] });
    const registry = new ToolRegistry(new ToolBinding({ container: container.createChildContainer() }));
    await registry.register(toolsetFor(server.connection));
    const closing = registry.close();
    expect(registry.close()).toBe(closing);
    await closing;
    expect(server.sessions).toEqual([]);
  });
});
