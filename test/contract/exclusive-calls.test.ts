import {
  CancelledError,
  MapTool,
  McpToolset,
  Tool,
  ToolBinding,
  ToolRegistry,
  type McpToolClass,
  type Run,
} from 'mcp-toolset';
import { createTestServer, overrideClient } from 'mcp-toolset/testing';
import { closeRunsAfterEach, gate, startRun, type Gate } from './live-run';

closeRunsAfterEach();

/** Counts who is inside at the same time. */
class Room {
  most = 0;
  readonly order: string[] = [];
  private inside = 0;

  async visit<T>(name: string, stay: Promise<T> = Promise.resolve() as Promise<T>): Promise<T> {
    this.order.push(name);
    this.most = Math.max(this.most, ++this.inside);
    try {
      return await stay;
    } finally {
      await new Promise((resolve) => setImmediate(resolve));
      this.inside -= 1;
    }
  }
}

function localTool(name: string, call: () => unknown, exclusive = true): ReturnType<typeof Tool.define> {
  return Tool.define({ name, description: name, inputSchema: { type: 'object' }, exclusive, call });
}

async function tools(run: Run, ...entries: Parameters<ToolRegistry['register']>): Promise<ToolRegistry> {
  const registry = run.resolve(ToolRegistry);
  await registry.register(...entries);
  return registry;
}

describe('R33: exclusive tools of one run never overlap', () => {
  it('local tools and generated ones alike, in the order of the calls', async () => {
    const room = new Room();
    const server = createTestServer({
      tools: { remote: { call: () => room.visit('remote').then(() => 'remote') }, free: { call: () => 'free' } },
    });
    @McpToolset({ connection: { url: 'https://unused.example/' } })
    class Remote {
      @MapTool()
      map(generated: McpToolClass): McpToolClass {
        generated.exclusive = generated.toolName === 'remote';
        return generated;
      }
    }
    const run = startRun();
    overrideClient(run.container, Remote, server);
    const registry = await tools(
      run,
      Remote,
      localTool('one', () => room.visit('one')),
      [localTool('two', () => room.visit('two'))],
    );
    const names = ['one', 'remote', 'two', 'remote', 'one', 'two'];
    await Promise.all(names.map((name) => registry.execute({ name })));
    expect(room.most).toBe(1);
    expect(room.order).toEqual(names);
  });

  it('across the registries of the run', async () => {
    const room = new Room();
    const run = startRun();
    const first = await tools(
      run,
      localTool('one', () => room.visit('one')),
    );
    const second = new ToolRegistry(new ToolBinding({ run }));
    await second.register(localTool('two', () => room.visit('two')));
    await Promise.all([first.execute({ name: 'one' }), second.execute({ name: 'two' })]);
    expect(room.most).toBe(1);
  });

  it('while other tools, and other runs, do overlap with them', async () => {
    const room = new Room();
    const all = gate();
    let missing = 3;
    const meet = (): Promise<void> => {
      if (--missing === 0) all.open();
      return room.visit('met', all.passed);
    };
    const one = await tools(startRun(), localTool('exclusive', meet), localTool('free', meet, false));
    const two = await tools(startRun(), localTool('exclusive', meet));
    await Promise.all([
      one.execute({ name: 'exclusive' }),
      one.execute({ name: 'free' }),
      two.execute({ name: 'exclusive' }),
    ]);
    expect(room.most).toBe(3);
  });

  it('also after one that failed', async () => {
    const registry = await tools(
      startRun(),
      localTool('bad', () => Promise.reject(new Error('bad'))),
      localTool('worse', () => {
        throw new Error('worse');
      }),
      localTool('good', () => 'good'),
    );
    const calls = ['bad', 'worse', 'good'].map((name) => registry.execute({ name }));
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(['error', 'error', 'success']);
  });
});

describe('R33: exclusive tools and cancellation', () => {
  const held = async (): Promise<{ registry: ToolRegistry; room: Room; release: Gate; inside: Gate }> => {
    const room = new Room();
    const [release, inside] = [gate(), gate()];
    const registry = await tools(
      startRun(),
      localTool('hold', () => {
        inside.open();
        return room.visit('hold', release.passed);
      }),
      localTool('quick', () => room.visit('quick')),
    );
    return { registry, room, release, inside };
  };

  it('a cancelled call keeps its turn until its work has really ended', async () => {
    const { registry, room, release, inside } = await held();
    const own = new AbortController();
    const first = registry.execute({ name: 'hold' }, { signal: own.signal });
    await inside.passed;
    const second = registry.execute({ name: 'quick' });
    own.abort();
    await expect(first).rejects.toThrow(CancelledError);
    await new Promise((resolve) => setImmediate(resolve));
    expect(room.order).toEqual(['hold']);
    release.open();
    expect(await second).toMatchObject({ status: 'success' });
    expect(room.most).toBe(1);
  });

  it('a call that is cancelled while it waits costs nobody a turn', async () => {
    const { registry, room, release, inside } = await held();
    const own = new AbortController();
    const first = registry.execute({ name: 'hold' });
    await inside.passed;
    const second = registry.execute({ name: 'quick' }, { signal: own.signal });
    const third = registry.execute({ name: 'quick' });
    own.abort();
    await expect(second).rejects.toThrow(CancelledError);
    release.open();
    expect((await Promise.all([first, third])).map(({ status }) => status)).toEqual(['success', 'success']);
    expect(room.order).toEqual(['hold', 'quick']);
  });

  it('a call that is cancelled right after it was made costs nobody a turn', async () => {
    const { registry, room } = await held();
    const own = new AbortController();
    const first = registry.execute({ name: 'quick' }, { signal: own.signal });
    own.abort();
    await expect(first).rejects.toThrow(CancelledError);
    expect(await registry.execute({ name: 'quick' })).toMatchObject({ status: 'success' });
    expect(room.order).toEqual(['quick']);
  });

  it('one that is called from within another would wait for itself, and is refused instead; later ones are not', async () => {
    const run = startRun();
    const inner = localTool('inner', () => 'inner');
    const later: Promise<unknown>[] = [];
    const ended = gate();
    const outer = localTool('outer', async () => {
      later.push(ended.passed.then(() => run.resolve(ToolRegistry).execute({ name: 'inner' })));
      return (await run.resolve(ToolRegistry).execute({ name: 'inner' })).content;
    });
    const registry = await tools(run, inner, outer);
    expect(await registry.execute({ name: 'outer' })).toMatchObject({ content: 'Tool failed (ConfigurationError)' });
    ended.open();
    expect(await later[0]).toMatchObject({ content: 'inner' });
  });
});
