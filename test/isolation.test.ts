import { container, injectable, scoped, Lifecycle, type DependencyContainer } from 'tsyringe';
import {
  McpToolset,
  Run,
  RunFactory,
  Tool,
  ToolBinding,
  ToolRegistry,
  type RunOptions,
  type ToolCallContext,
} from 'mcp-toolset';
import { startRawHttp, text, tool, type HttpExchange, type RawHttpServer } from './servers';
import { closeRunsAfterEach, faultOf, startRun } from './contract/started-run';

closeRunsAfterEach();

/** A server that says whose session it is, and keeps the credentials of each session. */
async function startBank() {
  const credentials = new Map<string, Set<string>>();
  const note = ({ sessionId, headers }: HttpExchange): string => {
    const seen = credentials.get(String(sessionId)) ?? new Set();
    credentials.set(String(sessionId), seen.add(String(headers.authorization)));
    return `${headers.authorization} ${sessionId}`;
  };
  const server = await startRawHttp({
    tools: (_, exchange) => [tool('balance', { description: `Balance for ${note(exchange)}` })],
    call: ({ arguments: args }, exchange) => text(`${note(exchange)} ${JSON.stringify(args)}`),
  });
  return { server, credentials };
}

@injectable()
class Tokens {
  readonly token: string;
  constructor(run: Run) {
    this.token = `token-of-${run.invocation.actorId}`;
  }
}

function bankOf(server: RawHttpServer) {
  @McpToolset({
    connection: (binding) => ({
      ...server.connection,
      headers: { authorization: binding.container.resolve(Tokens).token },
    }),
  })
  class Bank {}
  return Bank;
}

class WhoAmI extends Tool {
  static override toolName = 'whoami';
  static override description = 'Tells on whose behalf the run acts.';
  static override inputSchema = { type: 'object' };
  call(_: unknown, { binding }: ToolCallContext) {
    return [this.binding.run?.invocation.actorId, binding.run?.invocation.actorId].join();
  }
}

@injectable()
class SupportController {
  constructor(
    readonly tools: ToolRegistry,
    readonly binding: ToolBinding,
    readonly run: Run,
  ) {}

  async answer(question: string, ...entries: Parameters<ToolRegistry['register']>) {
    await this.tools.register(...entries);
    const [balance, who] = await Promise.all([
      this.tools.execute({ name: 'balance', input: { question } }),
      this.tools.execute({ name: 'whoami' }),
    ]);
    return { balance: balance.content, who: who.content };
  }
}

describe('two runs at once', () => {
  it("never see each other's session, credentials, registry or binding", async () => {
    const { server, credentials } = await startBank();
    const Bank = bankOf(server);
    const [ada, bob] = [startRun({ actorId: 'ada' }), startRun({ actorId: 'bob' })];
    const [forAda, forBob] = [ada.resolve(SupportController), bob.resolve(SupportController)];
    const [ofAda, ofBob] = await Promise.all([
      forAda.answer('from ada', Bank, WhoAmI),
      forBob.answer('from bob', Bank, WhoAmI),
    ]);
    expect(ofAda.balance).toMatch(/^token-of-ada \S+ \{"question":"from ada"\}$/);
    expect(ofBob.balance).toMatch(/^token-of-bob \S+ \{"question":"from bob"\}$/);
    expect([ofAda.who, ofBob.who]).toEqual(['ada,ada', 'bob,bob']);
    expect([...credentials.values()].map((seen) => [...seen]).sort()).toEqual([['token-of-ada'], ['token-of-bob']]);

    expect(forAda.tools).not.toBe(forBob.tools);
    expect(forAda.binding).not.toBe(forBob.binding);
    expect([forAda.run, forBob.run]).toEqual([ada, bob]);
    const [one, two] = [forAda.tools, forBob.tools].map((tools) => tools.get('balance'));
    expect(one?.constructor).not.toBe(two?.constructor);
    expect(one?.specification.description).toMatch(/^Balance for token-of-ada /);
    expect(two?.specification.description).toMatch(/^Balance for token-of-bob /);
  });

  it('end by themselves: closing or cancelling one leaves the other as it is', async () => {
    const { server } = await startBank();
    const Bank = bankOf(server);
    const [ada, bob] = [startRun({ actorId: 'ada' }), startRun({ actorId: 'bob' })];
    await Promise.all([ada, bob].map((run) => run.resolve(SupportController).answer('', Bank, WhoAmI)));
    expect(server.sessions).toHaveLength(2);
    ada.cancel();
    await expect(ada.resolve(ToolRegistry).execute({ name: 'balance' })).rejects.toThrow('cancelled');
    expect((await bob.resolve(ToolRegistry).execute({ name: 'balance' })).content).toMatch(/^token-of-bob/);
    await ada.close();
    expect(server.sessions).toHaveLength(1);
    expect((await bob.resolve(ToolRegistry).execute({ name: 'balance' })).content).toMatch(/^token-of-bob/);
  });

  it('may overlap in any way: fifty of them, with interleaved calls', async () => {
    const { server, credentials } = await startBank();
    const Bank = bankOf(server);
    const actors = Array.from({ length: 50 }, (_, index) => `user-${index}`);
    await Promise.all(
      actors.map(async (actorId) => {
        const run = startRun({ actorId });
        const controller = run.resolve(SupportController);
        const first = await controller.answer('first', Bank, WhoAmI);
        const rest = await Promise.all(
          [1, 2, 3].map((n) => controller.tools.execute({ name: 'balance', input: { n } })),
        );
        const session = first.balance.split(' ')[1];
        expect(first.who).toBe(`${actorId},${actorId}`);
        expect([first.balance, ...rest.map(({ content }) => content)]).toEqual([
          `token-of-${actorId} ${session} {"question":"first"}`,
          ...[1, 2, 3].map((n) => `token-of-${actorId} ${session} {"n":${n}}`),
        ]);
        await run.close();
      }),
    );
    expect(credentials.size).toBe(50);
    expect([...credentials.values()].flatMap((seen) => [...seen]).sort()).toEqual(
      actors.map((actorId) => `token-of-${actorId}`).sort(),
    );
    expect(server.sessions).toEqual([]);
  });
});

describe("a run's own instances", () => {
  it('are one each, however they are resolved', () => {
    const run = startRun();
    for (const token of [Run, ToolBinding, ToolRegistry]) {
      expect(run.resolve<object>(token)).toBe(run.container.resolve<object>(token));
    }
    expect(run.resolve(Run)).toBe(run);
    expect(run.resolve(ToolBinding).run).toBe(run);
    expect(run.resolve(ToolBinding).container).toBe(run.container);
    expect(run.resolve(SupportController).tools).toBe(run.resolve(ToolRegistry));
  });

  it('are found from children and grandchildren of its container', async () => {
    const run = startRun({ actorId: 'ada' });
    const child = run.container.createChildContainer();
    const grandchild = child.createChildContainer();
    for (const below of [child, grandchild]) {
      expect(below.resolve(Run)).toBe(run);
      expect(below.resolve(ToolRegistry)).toBe(run.resolve(ToolRegistry));
      expect(below.resolve(SupportController).binding).toBe(run.resolve(ToolBinding));
    }
  });

  it.each<[string, (of: DependencyContainer) => unknown]>([
    ['ToolRegistry', (of) => of.resolve(ToolRegistry)],
    ['ToolBinding', (of) => of.resolve(ToolBinding)],
    ['Run', (of) => of.resolve(Run)],
  ])('do not exist outside a run: resolving %s there says so', async (name, resolve) => {
    const expected = new RegExp(`^${name} belongs to a run: resolve it from a run`);
    const before = container.createChildContainer();
    const run = startRun({ container: before });
    run.resolve(ToolRegistry);
    const outside = [container, before, before.createChildContainer(), container.createChildContainer()];
    for (const of of outside) expect(await faultOf(() => resolve(of))).toMatch(expected);
    await run.close();
    for (const of of outside) expect(await faultOf(() => resolve(of))).toMatch(expected);
  });

  it('cannot be injected outside a run either, and the error says so', () => {
    expect(() => container.resolve(SupportController)).toThrow(/"tools".*"SupportController"[^]*belongs to a run/);
  });

  it('may be injected into a service that is scoped to a container', () => {
    @scoped(Lifecycle.ContainerScoped)
    class PerRun {
      constructor(readonly tools: ToolRegistry) {}
    }
    const [one, two] = [startRun(), startRun()];
    expect(one.resolve(PerRun)).toBe(one.resolve(PerRun));
    expect(one.resolve(PerRun)).not.toBe(two.resolve(PerRun));
    expect(two.resolve(PerRun).tools).toBe(two.resolve(ToolRegistry));
  });
});

describe("the parent of a run's container", () => {
  const started = (from: DependencyContainer, options: RunOptions = {}): Run =>
    startRun({ container: from, ...options });

  it('is the container that resolved the factory, at any depth', async () => {
    const parent = container.createChildContainer();
    const child = parent.createChildContainer();
    parent.registerInstance('level', 'parent');
    child.registerInstance('level', 'child');
    for (const [from, level] of [
      [parent, 'parent'],
      [child, 'child'],
    ] as const) {
      await using run = from.resolve(RunFactory).start();
      expect(run.container.resolve('level')).toBe(level);
      expect(run.container).not.toBe(from);
    }
  });

  it('is options.container where it is given', async () => {
    const [one, two] = [container.createChildContainer(), container.createChildContainer()];
    one.registerInstance('level', 'one');
    two.registerInstance('level', 'two');
    await using run = one.resolve(RunFactory).start({ container: two });
    expect(run.container.resolve('level')).toBe('two');
  });

  it('may have been made before or after other runs, and gets nothing of theirs', () => {
    const before = container.createChildContainer();
    const first = started(before);
    first.container.registerInstance('secret', 'of the first');
    const after = container.createChildContainer();
    const runs = [started(before), started(after), started(before.createChildContainer())];
    for (const run of runs) {
      expect(run.container.isRegistered('secret', true)).toBe(false);
      expect(run.resolve(ToolRegistry)).not.toBe(first.resolve(ToolRegistry));
      expect(run.resolve(Run)).toBe(run);
    }
  });

  it("may be another run's container: the inner run has its own registry, and its own end", async () => {
    const outer = startRun({ actorId: 'ada' });
    const inner = started(outer.container, { actorId: 'bob' });
    expect(inner.resolve(SupportController).run).toBe(inner);
    expect(outer.resolve(SupportController).run).toBe(outer);
    await inner.close();
    expect(outer.state).toBe('active');
    expect(outer.resolve(ToolRegistry).names).toEqual([]);
  });
});

it('a service of the application is shared by runs, and is not harmed when one closes', async () => {
  const parent = container.createChildContainer();
  const disposed: string[] = [];
  class Pool {
    dispose() {
      disposed.push('pool');
    }
  }
  parent.registerSingleton(Pool);
  const [one, two] = [startRun({ container: parent }), startRun({ container: parent })];
  const pool = one.resolve(Pool);
  await one.close();
  expect(two.resolve(Pool)).toBe(pool);
  expect(disposed).toEqual([]);
});

it('an object that one run was injected into serves no other run, although it was made a singleton', () => {
  const parent = container.createChildContainer();
  @injectable()
  class Kept {
    constructor(readonly tools: ToolRegistry) {}
  }
  parent.registerSingleton(Kept);
  const [ada, bob] = [startRun({ container: parent, id: 'ada' }), startRun({ container: parent, id: 'bob' })];
  expect(ada.resolve(Kept)).toBe(ada.resolve(Kept));
  expect(() => bob.resolve(Kept)).toThrow(
    /an instance of Kept was made for run ada.*Do not register the class as a singleton/,
  );
});
