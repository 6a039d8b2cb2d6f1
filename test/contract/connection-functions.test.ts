import {
  CancelledError,
  McpToolset,
  OnError,
  ProviderError,
  ToolBinding,
  type ConnectionOptions,
  type ToolsetClass,
} from 'mcp-toolset';
import { childrenOf, rawStdio, startRawHttp, text, tool, waitForNoChildren } from '../servers';
import { deferred } from './deferred';
import { closeRunsAfterEach, discover, faultOf, namesOf, registered, startRun } from './started-run';

closeRunsAfterEach();

/** A toolset whose connection is whatever `connect` returns; optional, which must change nothing here. */
function shopOf(connect: (binding: ToolBinding) => unknown): { Shop: ToolsetClass; reported: unknown[] } {
  const reported: unknown[] = [];
  @McpToolset({ optional: true, connection: connect as (binding: ToolBinding) => ConnectionOptions })
  class Shop {
    @OnError()
    report(error: unknown) {
      reported.push(error);
    }
  }
  return { Shop, reported };
}

describe('R40: connection options may come from a function', () => {
  it('for HTTP, sync or async, of the binding', async () => {
    const http = await startRawHttp({ tools: [tool('a')] });
    const bindings: ToolBinding[] = [];
    const options = (binding: ToolBinding) => {
      bindings.push(binding);
      return { ...http.connection, headers: { authorization: `Bearer ${binding.run?.invocation.actorId}` } };
    };
    const [ada, bob] = [startRun({ actorId: 'ada' }), startRun({ actorId: 'bob' })];
    expect(await namesOf(shopOf(options).Shop, ada)).toEqual(['a']);
    expect(await namesOf(shopOf(async (binding) => options(binding)).Shop, bob)).toEqual(['a']);
    expect(bindings).toEqual([ada.resolve(ToolBinding), bob.resolve(ToolBinding)]);
    const sent = http.requests
      .filter(({ method }) => method === 'initialize')
      .map(({ headers }) => headers.authorization);
    expect(sent).toEqual(['Bearer ada', 'Bearer bob']);
  });

  it('for stdio, sync or async, of the binding', async () => {
    const child = await rawStdio({
      tools: [tool('whoami')],
      call: () => ({ content: [{ type: 'text', text: String(process.env.ACTOR) }] }),
    });
    const options = ({ run }: ToolBinding) => ({
      ...child.connection,
      env: { ACTOR: String(run?.invocation.actorId) },
    });
    for (const connect of [options, async (binding: ToolBinding) => options(binding)]) {
      const run = startRun({ actorId: 'ada' });
      const registry = await registered(shopOf(connect).Shop, run);
      expect(await registry.execute({ name: 'whoami' })).toMatchObject({ content: 'ada' });
      await run.close();
    }
    await waitForNoChildren();
  });

  it('which may choose between the two kinds', async () => {
    const [http, child] = [await startRawHttp({ tools: [tool('far')] }), await rawStdio({ tools: [tool('near')] })];
    const { Shop } = shopOf(({ run }) => (run?.invocation.context.local ? child.connection : http.connection));
    expect(await namesOf(Shop, startRun({ context: { local: true } }))).toEqual(['near']);
    expect(await namesOf(Shop, startRun())).toEqual(['far']);
  });

  it('and may resolve services from the container', async () => {
    const http = await startRawHttp({ tools: [tool('a')] });
    const { Shop } = shopOf(({ container }) => container.resolve<ConnectionOptions>('connection'));
    const run = startRun();
    run.container.registerInstance('connection', http.connection);
    expect(await namesOf(Shop, run)).toEqual(['a']);
  });

  it('and are asked for once per run', async () => {
    const http = await startRawHttp({ tools: [tool('a')], call: () => text('done') });
    let asked = 0;
    const { Shop } = shopOf(() => {
      asked += 1;
      return http.connection;
    });
    const run = startRun();
    await Promise.all([discover(Shop, run), discover(Shop, run)]);
    const registry = await registered(Shop, run);
    await registry.execute({ name: 'a' });
    expect(asked).toBe(1);
    await discover(Shop);
    expect(asked).toBe(2);
  });

  it('and are inherited, and replaced, like any other', async () => {
    const http = await startRawHttp({ tools: [tool('a')] });
    const { Shop } = shopOf(() => http.connection);
    class Child extends Shop {}
    expect(await namesOf(Child)).toEqual(['a']);
  });

  it('with a timeout of their own', async () => {
    const http = await startRawHttp({ on: { initialize: (exchange) => exchange.hang() } });
    const { Shop, reported } = shopOf(() => ({ ...http.connection, timeout: 20 }));
    expect(await discover(Shop)).toEqual([]);
    expect(reported).toEqual([expect.objectContaining({ message: expect.stringContaining('within 20 ms') })]);
  });
});

describe('R40: a function that returns no connection options', () => {
  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /expected either \{ url, … \}/],
    ['null', null, /expected either \{ url, … \}/],
    ['a string', 'https://host.example', /expected either \{ url, … \}/],
    ['a URL', new URL('https://host.example'), /expected either|url/],
    ['another function', () => ({ url: 'https://host.example' }), /expected either \{ url, … \}/],
    ['an empty object', {}, /expected either \{ url, … \}/],
    ['both kinds', { url: 'https://host.example', command: 'x' }, /expected either \{ url, … \}/],
    ['a client and a transport', { client: {}, transport: {} }, /expected either \{ url, … \}/],
    ['http: without leave', { url: 'http://host.example' }, /allowInsecureHttp/],
    ['a timeout of NaN', { command: 'x', timeout: NaN }, /"timeout": expected a finite number/],
    ['an unknown option', { command: 'x', shell: true }, /unknown option "shell"/],
  ])('but %s is a ConfigurationError that names the toolset, though it is optional', async (_, returned, expected) => {
    for (const connect of [() => returned, async () => returned]) {
      const { Shop, reported } = shopOf(connect);
      const message = await faultOf(() => discover(Shop));
      expect(message).toMatch(/^Toolset Shop, option "connection": /);
      expect(message).toMatch(expected);
      expect(reported).toEqual([]);
    }
  });

  it.each<[string, Error]>([
    ['an error', new TypeError('no tenant')],
    ["one of the library's own errors", new ProviderError('no token')],
  ])('but throws %s: it reaches the application as it is, though the toolset is optional', async (_, failure) => {
    for (const connect of [() => Promise.reject(failure), fail]) {
      const { Shop, reported } = shopOf(connect);
      await expect(discover(Shop)).rejects.toBe(failure);
      expect(reported).toEqual([]);
    }
    function fail(): never {
      throw failure;
    }
  });

  it('and does not settle, is not waited for when the run is cancelled; nothing is started afterwards', async () => {
    const child = await rawStdio({ tools: [tool('a')] });
    const { promise: gate, resolve: open } = deferred();
    const { promise: called, resolve: enter } = deferred();
    const { promise: returned, resolve: done } = deferred();
    const { Shop } = shopOf(async () => {
      enter();
      await gate;
      done();
      return child.connection;
    });
    const run = startRun();
    const outcome = expect(discover(Shop, run)).rejects.toBeInstanceOf(CancelledError);
    await called;
    run.cancel();
    await outcome;
    open();
    await returned;
    await run.close();
    expect(child.pids).toEqual([]);
    expect(childrenOf()).toEqual([]);
  });
});
