import { delay, inject, injectable } from 'tsyringe';
import {
  Artifact,
  CreateClient,
  McpToolset,
  Run,
  Tool,
  ToolBinding,
  ToolRegistry,
  ToolsetDiscovery,
  type ToolCallContext,
} from 'mcp-toolset';
import { createTestServer } from 'mcp-toolset/testing';
import { inspect } from 'node:util';
import { closeRunsAfterEach, startRun } from '../contract/live-run';

closeRunsAfterEach();

/** What is not shown works as before. */
const Clock = Tool.define({ name: 'clock', description: 'Now.', inputSchema: { type: 'object' }, call: () => 'noon' });

it("objects of a run work behind tsyringe's delay(), which puts proxies before them", async () => {
  @injectable()
  class Service {
    constructor(
      @inject(delay(() => Run)) readonly run: Run,
      @inject(delay(() => ToolBinding)) readonly binding: ToolBinding,
      @inject(delay(() => ToolRegistry)) readonly tools: ToolRegistry,
    ) {}
  }
  const run = startRun({ id: 'r', actorId: 'ada' });
  const { run: same, binding, tools } = run.resolve(Service);
  await tools.register(Clock);
  expect([tools.names, tools.has('clock'), tools.get('clock')?.binding]).toEqual([
    ['clock'],
    true,
    run.resolve(ToolBinding),
  ]);
  expect(await tools.execute({ name: 'clock' })).toMatchObject({ content: 'noon' });
  expect([binding.run, binding.container]).toEqual([run, run.container]);
  expect([same.id, same.state, same.remainingTime()]).toEqual(['r', 'active', Infinity]);
});

it('they also do what the library keeps with a run, again and again, by such a proxy', async () => {
  @injectable()
  class Service {
    constructor(@inject(delay(() => Run)) readonly run: Run) {}
  }
  const { run } = startRun().resolve(Service);
  expect(run.resolve(ToolRegistry)).toBe(run.resolve(ToolRegistry));
  const server = createTestServer({ tools: { echo: { call: (input) => input } } });
  @McpToolset()
  class Echo {
    @CreateClient()
    client() {
      return server.connect();
    }
  }
  const binding = new ToolBinding({ run, container: run.container });
  const discovery = run.resolve(ToolsetDiscovery);
  expect(await discovery.discover(Echo, binding)).toEqual(await discovery.discover(Echo, binding));
  const tools = new ToolRegistry(binding);
  await tools.register(
    Echo,
    class extends Clock {
      static override exclusive = true;
    },
  );
  for (const name of ['echo', 'clock', 'echo', 'clock']) {
    expect(await tools.execute({ name, input: {} })).toMatchObject({ status: 'success' });
  }
});

/** As the printers of test runners see it, which do not ask an object how it wants to be shown. */
const shown = (value: unknown): string => inspect(value, { depth: 9, customInspect: false });

it('nothing is shown of what the library keeps with a signal', async () => {
  const { signal } = new AbortController();
  const run = startRun({ signal });
  const seen: AbortSignal[] = [signal, run.signal];
  const call = (_: object, context: ToolCallContext) => {
    seen.push(context.signal);
    return shown(seen);
  };
  const Look = Tool.define({ name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, call });
  const tools = run.resolve(ToolRegistry);
  await tools.register(Look);
  const own = new AbortController().signal;
  seen.push(own);
  const { content } = await tools.execute({ name: 'look' }, { signal: own });
  expect(content.match(/kAborted/g)).toHaveLength(4);
  expect(content).not.toContain('mcp-toolset');
  expect(shown(seen)).not.toContain('mcp-toolset');
});

it('the names of a registry follow its tools, and cannot be changed from outside', async () => {
  const tools = startRun().resolve(ToolRegistry);
  const before = tools.names;
  await tools.register(Clock);
  expect([before, tools.names]).toEqual([[], ['clock']]);
  expect(Object.isFrozen(tools.names)).toBe(true);
  expect(() => Object.assign(tools, { names: [] })).toThrow(TypeError);
});

it('two things that are not the same are not equal: runs, bindings and registries of two runs, artifacts', async () => {
  const [one, other] = [startRun(), startRun()];
  expect(one).not.toEqual(other);
  expect(one.resolve(ToolBinding)).not.toEqual(other.resolve(ToolBinding));
  expect(one.resolve(ToolRegistry)).not.toEqual(other.resolve(ToolRegistry));
  const [a, b] = ['a', 'b'].map((text) => Artifact.inline({ data: Buffer.from(text), mediaType: 'text/plain' }));
  expect(a).not.toEqual(b);
});

it('the JSON of an artifact tells how many bytes it has, or its reference', () => {
  const inline = Artifact.inline({ data: new Uint8Array(3), mediaType: 'image/png', name: 'a.png' });
  const deferred = Artifact.deferred({ reference: 'x-1', mediaType: 'image/png', metadata: { page: 2 } });
  expect(JSON.parse(JSON.stringify([inline, deferred]))).toEqual([
    { kind: 'inline', mediaType: 'image/png', name: 'a.png', metadata: {}, bytes: 3 },
    { kind: 'deferred', mediaType: 'image/png', metadata: { page: 2 }, reference: 'x-1' },
  ]);
});
