import { container, inject, singleton } from 'tsyringe';
import {
  CancelledError,
  CreateClient,
  DeadlineExceededError,
  MapTool,
  McpToolset,
  OnError,
  Run,
  ToolBinding,
  ToolRegistry,
  ToolsetDiscovery,
  type McpToolClass,
} from 'mcp-toolset';
import { createTestServer, type TestServer } from 'mcp-toolset/testing';
import { startRawHttp, tool } from '../servers';
import { closeRunsAfterEach, discover, faultOf, startRun } from './started-run';

closeRunsAfterEach();

const newServer = (...names: string[]): TestServer =>
  createTestServer({ tools: Object.fromEntries(names.map((name) => [name, { call: () => name }])) });

describe('R9: a generated class belongs to the run that it was generated for', () => {
  /** A toolset whose tool tells as whom it calls. */
  function shop() {
    @McpToolset()
    class Shop {
      @CreateClient()
      client({ run }: ToolBinding) {
        return createTestServer({ tools: { who: { call: () => run?.invocation.actorId } } }).connect();
      }
    }
    return Shop;
  }

  it('and is refused in that of another user, whose registry stays usable', async () => {
    const Shop = shop();
    const [alice, bob] = [startRun({ actorId: 'alice' }), startRun({ actorId: 'bob' })];
    const classes = await discover(Shop, alice);
    const registry = bob.resolve(ToolRegistry);
    expect(await faultOf(() => registry.register(...classes))).toMatch(
      /^Toolset Shop, tool "who": .* another run.*Register the toolset itself/,
    );
    expect(registry.names).toEqual([]);
    await registry.register(Shop);
    expect(await registry.execute({ name: 'who' })).toMatchObject({ content: 'bob' });
    await alice.resolve(ToolRegistry).register(...classes);
    expect(await alice.resolve(ToolRegistry).execute({ name: 'who' })).toMatchObject({ content: 'alice' });
  });

  it('as does a subclass of it, which @MapTool may have made', async () => {
    const [Who] = await discover(shop(), startRun());
    class Renamed extends Who! {}
    expect(await faultOf(() => new Renamed(startRun().resolve(ToolBinding)))).toMatch(/another run/);
  });
});

describe('R3: a class of whose constructor tsyringe knows nothing', () => {
  const options = { connection: { url: 'https://mcp.invalid/' } };
  const missing = /emitDecoratorMetadata.*tsx and esbuild.*@inject\(…\)\.$/;

  it('was marked, but its compiler emitted no metadata', async () => {
    class Plain {
      constructor(readonly run: Run) {}
    }
    McpToolset(options)(Plain); // as a compiler leaves it that emits no metadata
    const fault = await faultOf(() => discover(Plain, startRun()));
    expect(fault).toMatch(
      /^Toolset Plain: .*TypeInfo not known for "Plain": the compiler must emit decorator metadata/,
    );
    expect(fault).toMatch(missing);
    expect(fault).not.toMatch(/mark it/);
  });

  it('is the unmarked child of a marked one', async () => {
    @McpToolset(options)
    class Parent {}
    class Child extends Parent {
      constructor(readonly run: Run) {
        super();
      }
    }
    const fault = await faultOf(() => discover(Child, startRun()));
    expect(fault).toMatch(/TypeInfo not known for "Child"; mark it @McpToolset\(\) too, and the compiler must emit/);
    expect(fault).toMatch(missing);
  });
});

describe('R3: a binding that is given another run', () => {
  it('has the container of that run, unless it had one of its own', () => {
    const [first, second] = [startRun(), startRun()];
    const own = container.createChildContainer();
    expect(first.resolve(ToolBinding).with({ run: second }).container).toBe(second.container);
    expect(first.resolve(ToolBinding).with({ container: own }).with({ run: second }).container).toBe(own);
    expect(new ToolBinding({ container: own }).with({ run: second }).container).toBe(own);
    expect(first.resolve(ToolBinding).with({ run: second, container: own })).toMatchObject({
      run: second,
      container: own,
    });
    expect(first.resolve(ToolBinding).with({}).container).toBe(first.container);
  });
});

describe('R3: the toolset instance', () => {
  it("is resolved from the run's container, so that per-run services are injected", async () => {
    const server = newServer('a');
    const seen: unknown[] = [];
    @McpToolset()
    class Shop {
      constructor(
        run: Run,
        binding: ToolBinding,
        @inject('token') readonly token: string,
      ) {
        seen.push(run, binding.run, token);
      }
      @CreateClient()
      client() {
        return server.connect();
      }
    }
    const run = startRun();
    run.container.registerInstance('token', 'of this run');
    await discover(Shop, run);
    expect(seen).toEqual([run, run, 'of this run']);
  });

  it('is made once per run, at discovery, and serves every callback of the run', async () => {
    const down = await startRawHttp({ tools: [tool('a')] });
    const made: object[] = [];
    const used: object[] = [];
    @McpToolset({ optional: true, connection: down.connection })
    class Shop {
      constructor() {
        made.push(this);
      }
      @MapTool()
      curate(toolClass: McpToolClass) {
        used.push(this);
        return toolClass;
      }
      @OnError()
      report() {
        used.push(this);
      }
    }
    const run = startRun();
    run.resolve(ToolRegistry);
    expect(made).toEqual([]);
    down.script = { tools: () => undefined, on: { 'tools/list': (exchange) => exchange.raw(500) } };
    await discover(Shop, run);
    down.script = { tools: [tool('a')] };
    await discover(Shop, run);
    expect(made).toHaveLength(1);
    expect(used).toEqual([made[0], made[0]]);
    expect(used[0]).toBe(made[0]);
    await discover(Shop);
    expect(made).toHaveLength(2);
    expect(used[2]).toBe(made[1]);
  });

  it('is another one for each of two runs', async () => {
    const server = newServer('a');
    const instances = new Set<object>();
    @McpToolset()
    class Shop {
      @CreateClient()
      client() {
        instances.add(this);
        return server.connect();
      }
    }
    await Promise.all([discover(Shop), discover(Shop)]);
    expect(instances.size).toBe(2);
  });

  it('may not be a singleton of the application, which would serve two runs', async () => {
    const server = newServer('a');
    @singleton()
    @McpToolset()
    class Shop {
      @CreateClient()
      client() {
        return server.connect();
      }
    }
    await discover(Shop);
    expect(await faultOf(() => discover(Shop))).toMatch(/^Toolset Shop: one instance .* two runs.*singleton/);
  });

  it('that the container cannot make is a ConfigurationError that says why', async () => {
    abstract class Unregistered {}
    @McpToolset({ name: 'shop', connection: { url: 'https://unused.invalid' }, optional: true })
    class Shop {
      constructor(@inject('price list') readonly prices: Unregistered) {}
    }
    expect(await faultOf(() => discover(Shop))).toMatch(
      /^Toolset shop: the container could not make an instance of Shop: [^]*"price list"/,
    );
    @McpToolset({ connection: { url: 'https://unused.invalid' } })
    class Throwing {
      constructor() {
        throw new RangeError('no licence');
      }
    }
    expect(await faultOf(() => discover(Throwing))).toMatch(/could not make an instance of Throwing: no licence/);
  });
});

describe('R4: a run that has ended', () => {
  const ended: [string, () => Run, new (...args: never[]) => Error][] = [
    ['cancelled', () => cancelled(startRun()), CancelledError],
    ['past its deadline', () => startRun({ deadline: new Date(0) }), DeadlineExceededError],
    ['cancelled by its signal before it started', () => startRun({ signal: AbortSignal.abort() }), CancelledError],
  ];

  function cancelled(run: Run): Run {
    run.cancel('enough');
    return run;
  }

  it.each(ended)('%s builds no instance and no client', async (_, start, expected) => {
    const made: string[] = [];
    @McpToolset({ optional: true })
    class Shop {
      constructor() {
        made.push('instance');
      }
      @CreateClient()
      client(): never {
        made.push('client');
        throw new Error('not reached');
      }
    }
    const run = start();
    await expect(discover(Shop, run)).rejects.toBeInstanceOf(expected);
    await expect(run.resolve(ToolRegistry).register(Shop)).rejects.toBeInstanceOf(expected);
    expect(made).toEqual([]);
  });

  it('by close builds none either, also where it had discovered before', async () => {
    const server = newServer('a');
    let clients = 0;
    @McpToolset()
    class Shop {
      @CreateClient()
      client() {
        clients += 1;
        return server.connect();
      }
    }
    const run = startRun();
    const binding = run.resolve(ToolBinding);
    const discovery = container.resolve(ToolsetDiscovery);
    await discovery.discover(Shop, binding);
    await run.close();
    await expect(discovery.discover(Shop, binding)).rejects.toThrow(/is closed/);
    expect(clients).toBe(1);
  });
});
