import { RunFactory, Tool, ToolRegistry, type Run, type ToolCallContext } from 'mcp-toolset';
import { container } from 'tsyringe';

const inputSchema = { type: 'object' };

/** A registry of one tool, `see`, and its run. */
async function registryOf(see: (context: ToolCallContext) => unknown): Promise<{ run: Run; registry: ToolRegistry }> {
  const run = container.resolve(RunFactory).start();
  const registry = run.resolve(ToolRegistry);
  const call = (_input: unknown, context: ToolCallContext): unknown => see(context);
  await registry.register(Tool.define({ name: 'see', description: 'Sees its context.', inputSchema, call }));
  return { run, registry };
}

describe('R28: the context of a call', () => {
  it('is the binding, the signal and the id of the call, and nothing else', async () => {
    let seen: unknown;
    const { run, registry } = await registryOf((context) => (seen = { ...context }) && 'done');
    await registry.execute({ id: 'c1', name: 'see' });
    expect(seen).toEqual({ binding: registry.binding, callId: 'c1', signal: expect.any(AbortSignal) });
    await run.close();
  });

  it.each<[string, (context: ToolCallContext) => { readonly signal: AbortSignal }]>([
    ['itself', (context) => context],
    ['a copy', (context) => ({ ...context })],
    ['what is derived from it', (context) => Object.create(context) as ToolCallContext],
  ])('has one signal, which the run aborts, whoever asks when: %s', async (_what, of) => {
    const signals: AbortSignal[] = [];
    const { run, registry } = await registryOf(async (context) => {
      const early = of(context).signal;
      run.cancel('enough');
      signals.push(early, of(context).signal);
      await new Promise(() => undefined);
    });
    await expect(registry.execute({ name: 'see' })).rejects.toMatchObject({ code: 'cancelled' });
    expect(signals[0]).toBe(signals[1]);
    expect(signals[0]).toMatchObject({ aborted: true, reason: { code: 'cancelled', cause: 'enough' } });
    await run.close();
  });

  it('has a signal that aborts when that of its run has, so that a tool which hears of it can tell why', async () => {
    const seen: unknown[] = [];
    const { run, registry } = await registryOf(async ({ binding, signal }) => {
      signal.addEventListener('abort', () => seen.push(binding.run?.signal.aborted, binding.run?.signal.reason));
      run.cancel('enough');
      seen.push(signal.reason);
      await new Promise(() => undefined);
    });
    await expect(registry.execute({ name: 'see' })).rejects.toMatchObject({ code: 'cancelled' });
    expect(seen).toEqual([true, run.signal.reason, run.signal.reason]);
    await run.close();
  });

  it('has ended for whoever hears of the end of its run before, and hands the signal of the call on', async () => {
    const other = await registryOf(() => 'done');
    let late: Promise<unknown> | undefined;
    const { run, registry } = await registryOf(async ({ binding, signal }) => {
      const handOn = () => {
        late = other.registry.execute({ name: 'see' }, { signal });
      };
      binding.run?.signal.addEventListener('abort', handOn);
      run.cancel('enough');
      await new Promise(() => undefined);
    });
    await expect(registry.execute({ name: 'see' })).rejects.toMatchObject({ code: 'cancelled' });
    await expect(late).rejects.toMatchObject({ code: 'cancelled', cause: run.signal.reason });
    await Promise.all([run.close(), other.run.close()]);
  });

  it('has an aborted signal for a tool that asks only when the call has been cancelled', async () => {
    const own = new AbortController();
    let signal: AbortSignal | undefined;
    const { run, registry } = await registryOf((context) => {
      own.abort();
      signal = context.signal;
      return 'done';
    });
    await expect(registry.execute({ name: 'see' }, { signal: own.signal })).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(signal?.reason).toMatchObject({ code: 'cancelled' });
    await run.close();
  });
});
