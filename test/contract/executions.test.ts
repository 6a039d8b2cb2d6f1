import { runInNewContext } from 'node:vm';
import type * as toolsets from 'mcp-toolset';
import {
  Artifact,
  CancelledError,
  CleanupError,
  ConfigurationError,
  DeadlineExceededError,
  McpToolsetError,
  ProtocolError,
  Tool,
  ToolError,
  ToolResult,
  type ToolExecution,
} from 'mcp-toolset';
import { rawStdio, startRawHttp, text, tool } from '../servers';
import { closeAfterEach, serve, toolsetOf } from './served-tools';

closeAfterEach();

function local(call: (input: Record<string, unknown>) => unknown) {
  return Tool.define({ name: 'local', description: 'A local tool.', inputSchema: { type: 'object' }, call });
}

async function throwing(thrown: unknown): Promise<ToolExecution> {
  const { call } = await serve(
    local(() => {
      throw thrown;
    }),
  );
  return call();
}

async function returning(returned: unknown): Promise<ToolExecution> {
  const { call } = await serve(local(() => returned));
  return call();
}

describe('R19: execute tells of every failure and throws none', () => {
  it.each(['missing', '', '__proto__', 'constructor', 'toString', 'a\u0000b', '😀'])(
    'answers the unknown name %j with an error execution',
    async (name) => {
      const { tools } = await serve(local(() => 1));
      const execution = await tools.execute({ name });
      expect(execution).toEqual({
        status: 'error',
        value: undefined,
        content: `Unknown tool: ${name}`,
        artifacts: [],
        error: expect.any(ToolError),
      });
    },
  );

  it('rejects what is no call, and does not throw at once', async () => {
    const { tools } = await serve(local(() => 1));
    const executing = tools.execute(undefined as never);
    await expect(executing).rejects.toThrow(TypeError);
  });

  it('repairs an unknown name that is not well-formed', async () => {
    const { tools } = await serve(local(() => 1));
    expect((await tools.execute({ name: 'a\ud800' })).content).toBe('Unknown tool: a\ufffd');
  });

  it.each([[undefined], [null], [Symbol('odd')], [42], [{ toString: () => 'local' }], [Object.create(null)]])(
    'answers a name that is no string with an error execution (%p)',
    async (name) => {
      const { tools } = await serve(local(() => 1));
      const execution = await tools.execute({ name: name as string });
      expect(execution.status).toBe('error');
      expect(execution.content).toMatch(/^Unknown tool: /);
    },
  );

  const wrongInputs: [string, unknown][] = [
    ['a string', '{"q":1}'],
    ['a number', 0],
    ['a boolean', false],
    ['an array', []],
    ['a bigint', 1n],
    ['a symbol', Symbol('s')],
    ['a function', () => ({})],
  ];

  it.each(wrongInputs)('refuses %s as input of a local tool', async (kind, input) => {
    const seen = jest.fn();
    const { call } = await serve(local(seen));
    const execution = await call(input);
    expect(execution).toMatchObject({
      status: 'error',
      content: `Invalid tool input: expected an object, got ${kind}.`,
    });
    expect(execution.error).toBeInstanceOf(ToolError);
    expect(seen).not.toHaveBeenCalled();
  });

  it.each(wrongInputs)('refuses %s as input of a generated tool, and sends nothing', async (kind, input) => {
    const server = await startRawHttp({ tools: [tool('remote')] });
    const { call } = await serve(toolsetOf(server.connection));
    expect((await call(input)).content).toBe(`Invalid tool input: expected an object, got ${kind}.`);
    expect(server.calls).toEqual([]);
  });

  it('takes undefined and null for no input', async () => {
    const seen: unknown[] = [];
    const { call } = await serve(local((input) => seen.push(input)));
    await call(undefined);
    await call(null);
    expect(seen).toEqual([{}, {}]);
  });

  it('refuses input whose check by the schema does not end, or that has more faults than can be told', async () => {
    const properties = { word: { type: 'string', pattern: '^(a+)+$' }, constructor: { type: 'string' } };
    const inputSchema = { type: 'object', properties, additionalProperties: false };
    const checked = Tool.define({ name: 'checked', description: 'A tool.', inputSchema, call: () => 'called' });
    const { call } = await serve(checked);
    expect(await call({ word: 'aaa' })).toMatchObject({ content: 'called' });
    expect((await call({ word: `${'a'.repeat(60)}!` })).content).toMatch(/^Invalid tool input: .* cannot be checked/);
    const { content } = await call(Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`key${n}`, n])));
    expect(content).toMatch(/^Invalid tool input: .*"key9".*; and 4990 more\.$/);
  });

  it('shows the message of a ToolError and keeps the error itself', async () => {
    const error = new ToolError('No seat is left; ask for another day.');
    expect(await throwing(error)).toEqual({
      status: 'error',
      value: undefined,
      content: 'No seat is left; ask for another day.',
      artifacts: [],
      error,
    });
  });

  it('shows the message of a subclass of ToolError', async () => {
    class SoldOut extends ToolError {}
    expect((await throwing(new SoldOut('Sold out.'))).content).toBe('Sold out.');
  });

  it('shows something for a ToolError without a message', async () => {
    expect((await throwing(new ToolError(''))).content).toBe('Tool failed (ToolError)');
  });

  it('makes the message of a ToolError well-formed', async () => {
    expect((await throwing(new ToolError('half \ud83d'))).content).toBe('half \ufffd');
  });

  class BadInput extends TypeError {}
  class Plain extends Error {}
  const named = Object.assign(new Error('password=hunter2'), { name: 'NamedError' });

  it.each<[string, unknown]>([
    ['Error', new Error('password=hunter2')],
    ['TypeError', new TypeError('password=hunter2')],
    ['Plain', new Plain('password=hunter2')],
    ['BadInput', new BadInput('password=hunter2')],
    ['NamedError', named],
    ['AbortError', new DOMException('password=hunter2', 'AbortError')],
    ['AggregateError', new AggregateError([new Error('password=hunter2')])],
    ['ConfigurationError', new ConfigurationError('password=hunter2')],
    ['ProtocolError', new ProtocolError('password=hunter2')],
  ])('names only the class of an error: %s', async (name, error) => {
    const execution = await throwing(error);
    expect(execution).toMatchObject({ status: 'error', content: `Tool failed (${name})`, value: undefined });
    expect(execution.error).toBe(error);
  });

  it.each<[string, unknown]>([
    ['string', 'password=hunter2'],
    ['undefined', undefined],
    ['null', null],
    ['number', 7],
    ['symbol', Symbol('s')],
    ['function', () => 'password=hunter2'],
    ['Object', { message: 'password=hunter2' }],
    ['Error', Object.create(null)],
  ])('names the kind of a thrown value that is no error: %s', async (kind, thrown) => {
    const execution = await throwing(thrown);
    expect(execution).toMatchObject({ status: 'error', content: `Tool failed (${kind})` });
    expect(execution.error).toBe(thrown);
  });

  it('names the class of an error from another realm', async () => {
    const foreign: unknown = runInNewContext('new RangeError("password=hunter2")');
    expect(foreign).not.toBeInstanceOf(Error);
    const execution = await throwing(foreign);
    expect(execution.content).toBe('Tool failed (RangeError)');
    expect(execution.error).toBe(foreign);
  });

  it('survives an error that cannot be looked at', async () => {
    const { proxy, revoke } = Proxy.revocable(new Error('gone'), {});
    revoke();
    const execution = await throwing(proxy);
    expect(execution.status).toBe('error');
    expect(execution.content).toBe('Tool failed (Error)');
    const trap = Object.defineProperty(new Error(), 'name', { get: () => fail() });
    expect((await throwing(trap)).content).toBe('Tool failed (Error)');
  });

  it('knows the errors of another copy of the package', async () => {
    const other = anotherCopy();
    expect(other.ToolError).not.toBe(ToolError);
    expect((await throwing(new other.ToolError('told by the copy'))).content).toBe('told by the copy');
    const cancelled = new other.CancelledError('stop');
    await expect(throwing(cancelled)).rejects.toBe(cancelled);
  });

  it.each([
    new CancelledError('stop'),
    new DeadlineExceededError('too late'),
    new CleanupError('dirty', { errors: [new Error('left open')] }),
  ])('throws the %s of a tool as it is', async (error) => {
    await expect(throwing(error)).rejects.toBe(error);
  });

  it('treats a rejection like a throw', async () => {
    const { call } = await serve(local(() => Promise.reject(new ToolError('later'))));
    expect((await call()).content).toBe('later');
  });

  it('adds the sentence about the outcome to the class of an error', async () => {
    const server = await rawStdio({ tools: [tool('remote')], call: (_params, exchange) => exchange.exit(3) });
    const { call } = await serve(toolsetOf(server.connection));
    const execution = await call();
    expect(execution.content).toMatch(/^Tool failed \(ProviderError\)\. It is not known whether /);
    expect(execution.error).toMatchObject({ outcome: 'unknown' });
    expect(McpToolsetError.is(execution.error)).toBe(true);
  });

  it('gives executions that cannot be changed', async () => {
    const server = await startRawHttp({ tools: [tool('remote')], call: () => text('fine') });
    const { call } = await serve(toolsetOf(server.connection));
    expect(Object.isFrozen(await call())).toBe(true);
    expect(Object.isFrozen(await call('wrong'))).toBe(true);
  });
});

type Package = typeof toolsets;

function anotherCopy(): Package {
  let copy: Package | undefined;
  jest.isolateModules(() => (copy = jest.requireActual<Package>('mcp-toolset')));
  if (!copy) throw new Error('the package was not loaded');
  return copy;
}

function fail(): never {
  throw new Error('not to be looked at');
}

describe('R27: content is the string, nothing, or JSON', () => {
  const date = new Date('2024-02-29T00:00:00Z');

  it.each<[string, unknown, string]>([
    ['a string', 'as it is', 'as it is'],
    ['a string with quotes', '"quoted"', '"quoted"'],
    ['an empty string', '', ''],
    ['undefined', undefined, ''],
    ['null', null, ''],
    ['zero', 0, '0'],
    ['not a number', Number.NaN, 'null'],
    ['false', false, 'false'],
    ['an object', { a: [1, { b: null }] }, '{"a":[1,{"b":null}]}'],
    ['an empty array', [], '[]'],
    ['a date', date, '"2024-02-29T00:00:00.000Z"'],
    ['an object with a toJSON', { toJSON: () => ({ short: true }) }, '{"short":true}'],
    ['an object whose functions JSON leaves out', { a: 1, f: () => 1 }, '{"a":1}'],
    ['a key named __proto__', JSON.parse('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}'],
  ])('shows %s', async (_what, value, content) => {
    const execution = await returning(value);
    expect(execution).toEqual({ status: 'success', value, content, artifacts: [] });
  });

  it('makes a string well-formed and leaves the value as it is', async () => {
    expect(await returning('half \udc00')).toMatchObject({ value: 'half \udc00', content: 'half \ufffd' });
  });

  it('shows a string of 50 MiB', async () => {
    const long = 'x'.repeat(50 * 1024 * 1024);
    expect((await returning(long)).content === long).toBe(true);
    expect((await returning([long])).content.length).toBe(long.length + 4);
  });

  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;

  it.each<[string, unknown]>([
    ['a cycle', cycle],
    ['a BigInt', 1n],
    ['a BigInt inside', { count: 1n }],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['an object whose JSON is undefined', { toJSON: () => undefined }],
    [
      'an object whose toJSON throws',
      {
        toJSON: () => {
          throw new Error('password=hunter2');
        },
      },
    ],
    [
      'an object whose toJSON throws a ToolError',
      {
        toJSON: () => {
          throw new ToolError('password=hunter2');
        },
      },
    ],
    ['JSON that is longer than a string can be', Array.from({ length: 40 }, () => 'x'.repeat(16 * 1024 * 1024))],
  ])('makes a ToolError of %s, and keeps value and artifacts', async (_what, value) => {
    const artifact = Artifact.inline({ data: new Uint8Array(3), mediaType: 'image/png' });
    const execution = await returning(new ToolResult({ value, artifacts: [artifact] }));
    expect(execution.status).toBe('error');
    expect(execution.error).toBeInstanceOf(ToolError);
    expect(execution.content).toMatch(/cannot be shown as JSON/);
    expect(execution.content).not.toContain('hunter2');
    expect(execution.content).toBe((execution.error as ToolError).message);
    expect(execution.value).toBe(value);
    expect(execution.artifacts).toEqual([artifact]);
  });

  it('makes a ToolError of a value that is too deep for JSON', async () => {
    let deep: unknown[] = [];
    for (let level = 0; level < 200_000; level += 1) deep = [deep];
    const execution = await returning(deep);
    expect(execution.error).toBeInstanceOf(ToolError);
    expect(execution.value === deep).toBe(true);
  });
});
