import { inject, injectable, singleton } from 'tsyringe';
import { Run, Tool, ToolBinding, ToolRegistry, type ToolCallContext, type ToolDefinition } from 'mcp-toolset';
import { closeRunsAfterEach, faultOf, registered, startRun } from './started-run';

closeRunsAfterEach();

const schema = { type: 'object' };

@injectable()
class Orders {
  constructor(readonly run: Run) {}
}

@injectable()
class OrderStatusTool extends Tool {
  static override toolName = 'order_status';
  static override description = 'Tells the status of an order.';
  static override inputSchema = schema;

  constructor(
    readonly orders: Orders,
    readonly injected: ToolBinding,
    @inject('region') readonly region: string,
  ) {
    super();
  }

  call(input: Record<string, unknown>, { binding, callId }: ToolCallContext) {
    return { input, region: this.region, run: binding.run?.id, own: this.binding === binding, callId };
  }
}

/** Any local tool; what is given replaces its parts. */
function definition(parts: Partial<Record<keyof ToolDefinition, unknown>> = {}): ToolDefinition {
  return {
    name: 'local',
    description: 'A local tool.',
    inputSchema: schema,
    call: () => 'done',
    ...parts,
  } as ToolDefinition;
}

describe('R41: a Tool class', () => {
  it("is instantiated from the run's container, and sees its binding", async () => {
    const run = startRun();
    run.container.registerInstance('region', 'north');
    const registry = await registered(OrderStatusTool, run);
    const made = registry.get('order_status') as OrderStatusTool;
    expect(made).toBeInstanceOf(OrderStatusTool);
    expect(made.orders.run).toBe(run);
    expect(made.injected).toBe(run.resolve(ToolBinding));
    expect(made.binding).toBe(made.injected);
    const { value } = await registry.execute({ id: 'call_1', name: 'order_status', input: { id: 7 } });
    expect(value).toEqual({ input: { id: 7 }, region: 'north', run: run.id, own: true, callId: 'call_1' });
  });

  it('is another instance for each run', async () => {
    const class_ = Tool.define(definition());
    const [one, two] = [await registered(class_), await registered(class_)];
    expect(one.get('local')).not.toBe(two.get('local'));
    expect(one.get('local')?.binding.run).not.toBe(two.get('local')?.binding.run);
  });

  it('that the container cannot make is a ConfigurationError that says why', async () => {
    expect(await faultOf(() => registered(OrderStatusTool))).toMatch(
      /^Tool class OrderStatusTool: the container could not make an instance: [^]*"region"/,
    );
    class Unmarked extends Tool {
      static override toolName = 'unmarked';
      static override description = 'Not injectable.';
      static override inputSchema = schema;
      constructor(readonly orders: Orders) {
        super();
      }
      call() {
        return this.orders;
      }
    }
    expect(await faultOf(() => registered(Unmarked))).toMatch(
      /^Tool class Unmarked: .*TypeInfo not known for "Unmarked"; mark it @injectable\(\), and .*emitDecoratorMetadata.*@inject\(…\)\.$/,
    );
  });

  it('that is a singleton is refused for the second run, and the first keeps it', async () => {
    @singleton()
    class Shared extends Tool {
      static override toolName = 'shared';
      static override description = 'Serves whoever comes first.';
      static override inputSchema = schema;
      call() {
        return this.binding.run?.id;
      }
    }
    const first = startRun();
    const registry = await registered(Shared, first);
    const second = startRun().resolve(ToolRegistry);
    expect(await faultOf(() => second.register(Shared))).toMatch(/^Tool Shared: one instance .* two runs.*singleton/);
    expect(second.names).toEqual([]);
    expect(await registry.execute({ name: 'shared' })).toMatchObject({ value: first.id });
    await first.close();
    expect(await faultOf(() => second.register(Shared))).toMatch(/two runs/);
  });

  it('may be put behind another one by the container', async () => {
    class Fake extends Tool {
      static override toolName = 'fake';
      static override description = 'Stands in.';
      static override inputSchema = schema;
      call() {
        return 'fake';
      }
    }
    const run = startRun();
    run.container.register(OrderStatusTool, { useClass: Fake as unknown as typeof OrderStatusTool });
    const registry = await registered(OrderStatusTool, run);
    expect(await registry.execute({ name: 'order_status' })).toMatchObject({ content: 'fake' });
  });
});

describe('R41: a Tool instance', () => {
  it('is used as it is, by several runs at once, and is told of the run by the context', async () => {
    const made = new (Tool.define(
      definition({ call: (_: unknown, { binding }: ToolCallContext) => binding.run?.id }),
    ))();
    const [one, two] = [startRun(), startRun()];
    for (const run of [one, two]) {
      const registry = await registered(made, run);
      expect(registry.get('local')).toBe(made);
      expect(await registry.execute({ name: 'local' })).toMatchObject({ value: run.id });
    }
    await one.close();
    expect(await two.resolve(ToolRegistry).execute({ name: 'local' })).toMatchObject({ value: two.id });
  });

  it('is not asked whether it is available, and not closed', async () => {
    const calls: string[] = [];
    const availableIf = () => calls.push('asked') < 0;
    class Counting extends Tool.define(definition({ availableIf })) {
      override close() {
        calls.push('closed');
      }
    }
    const run = startRun();
    await registered(new Counting(), run);
    await run.close();
    expect(calls).toEqual([]);
  });

  it('outside a run has a binding without one, and can be executed', async () => {
    const made = new (Tool.define(definition({ call: (input: unknown) => input })))();
    expect(made.binding.run).toBeUndefined();
    expect(await made.execute({ a: 1 })).toMatchObject({ status: 'success', value: { a: 1 } });
    expect(await made.execute()).toMatchObject({ value: {} });
    const binding = startRun().resolve(ToolBinding);
    const bound = new (Tool.define(definition({ call: (_: unknown, it: ToolCallContext) => it.binding.run?.id })))();
    expect(await bound.execute({}, { binding })).toMatchObject({ value: binding.run?.id });
  });
});

describe('R41: availableIf', () => {
  const left: [string, unknown][] = [
    ['false', false],
    ['a promise of false', Promise.resolve(false)],
    ['undefined', undefined],
    ['null', null],
    ['a promise of undefined', Promise.resolve(undefined)],
  ];
  it.each(left)('leaves the class out where it returns %s', async (_, returned) => {
    const made: string[] = [];
    class Left extends Tool.define(definition({ availableIf: () => returned })) {
      constructor() {
        super();
        made.push('made');
      }
    }
    const registry = await registered([Left, Tool.define(definition({ name: 'other' }))]);
    expect(registry.names).toEqual(['other']);
    expect(made).toEqual([]);
    expect(await registry.execute({ name: 'local' })).toMatchObject({ content: 'Unknown tool: local' });
  });

  it.each<[string, unknown]>([
    ['true', true],
    ['a promise of true', Promise.resolve(true)],
  ])('keeps the class where it returns %s', async (_, returned) => {
    expect((await registered(Tool.define(definition({ availableIf: () => returned })))).names).toEqual(['local']);
  });

  it('is given the binding, and finds the class as this', async () => {
    const seen: unknown[] = [];
    class Asked extends Tool {
      static override toolName = 'asked';
      static override description = 'Is asked.';
      static override inputSchema = schema;
      static role = 'admin';
      static override availableIf(binding: ToolBinding) {
        seen.push(binding);
        return binding.run?.invocation.context.role === this.role;
      }
      call() {
        return 1;
      }
    }
    const run = startRun({ context: { role: 'admin' } });
    expect((await registered(Asked, run)).names).toEqual(['asked']);
    expect((await registered(Asked, startRun({ context: { role: 'guest' } }))).names).toEqual([]);
    expect(seen[0]).toBe(run.resolve(ToolBinding));
  });

  it('that throws fails the registration with its own error, and registers nothing', async () => {
    const failure = new RangeError('no permissions');
    const registry = startRun().resolve(ToolRegistry);
    const other = Tool.define(definition({ name: 'other' }));
    for (const availableIf of [() => Promise.reject(failure), fail]) {
      await expect(registry.register(other, Tool.define(definition({ availableIf })))).rejects.toBe(failure);
      expect(registry.names).toEqual([]);
    }
    function fail(): never {
      throw failure;
    }
  });

  it('does not excuse a faulty declaration', async () => {
    class Nameless extends Tool {
      static override description = 'Has no name.';
      static override inputSchema = schema;
      static override availableIf = () => false;
      call() {
        return 1;
      }
    }
    expect(await faultOf(() => registered(Nameless))).toMatch(/^Tool class Nameless: "toolName" is missing/);
  });
});
