import type * as Errors from '../src/errors';
import {
  CancelledError,
  CleanupError,
  ConfigurationError,
  DeadlineExceededError,
  McpToolsetError,
  ProtocolError,
  ProviderError,
  Tool,
  ToolError,
  type McpToolsetErrorOptions,
} from 'mcp-toolset';

/** The same module, loaded a second time: what an application with two copies of the package has. */
function otherCopy(): typeof Errors {
  let copy: typeof Errors | undefined;
  jest.isolateModules(() => (copy = jest.requireActual<typeof Errors>('../src/errors')));
  if (!copy) throw new Error('jest loaded nothing');
  return copy;
}

const other = otherCopy();

interface ErrorClass {
  new (message: string, options?: McpToolsetErrorOptions): McpToolsetError;
  is(value: unknown): boolean;
}

const kinds: [string, ErrorClass, ErrorClass, string][] = [
  ['McpToolsetError', McpToolsetError, other.McpToolsetError, 'mcp_toolset_error'],
  ['ConfigurationError', ConfigurationError, other.ConfigurationError, 'configuration_error'],
  ['ProviderError', ProviderError, other.ProviderError, 'provider_error'],
  ['ProtocolError', ProtocolError, other.ProtocolError, 'protocol_error'],
  ['ToolError', ToolError, other.ToolError, 'tool_error'],
  ['CancelledError', CancelledError, other.CancelledError, 'cancelled'],
  ['DeadlineExceededError', DeadlineExceededError, other.DeadlineExceededError, 'deadline_exceeded'],
];

describe.each(kinds)('%s', (name, Kind, OtherKind, code) => {
  const cause = new RangeError('deeper');
  const error = new Kind('what happened', { cause, toolset: 'shop', outcome: 'unknown' });

  it('has message, name, code, toolset, outcome, cause and a stack', () => {
    expect(error).toBeInstanceOf(Error);
    expect(error).toBeInstanceOf(McpToolsetError);
    expect(error).toMatchObject({ message: 'what happened', name, code, toolset: 'shop', outcome: 'unknown' });
    expect(error.cause).toBe(cause);
    expect(error.stack).toContain(__filename);
    expect(String(error)).toBe(`${name}: what happened`);
  });

  it('needs no options, and has a cause only where one was given', () => {
    const bare = new Kind('x');
    expect([bare.toolset, bare.outcome, 'cause' in bare]).toEqual([undefined, undefined, false]);
    expect('cause' in new Kind('x', { toolset: 'shop' })).toBe(false);
    expect(new Kind('x', { cause: null }).cause).toBeNull();
    expect('cause' in new Kind('x', { cause: undefined })).toBe(true);
  });

  it('is() recognises its own kind and its kind from another copy of the package', () => {
    expect(new OtherKind('x')).not.toBeInstanceOf(Kind);
    expect(Kind.is(new OtherKind('x'))).toBe(true);
    expect(OtherKind.is(error)).toBe(true);
    expect(McpToolsetError.is(new OtherKind('x'))).toBe(true);
  });

  it('is() tells the kinds apart, across copies too', () => {
    for (const [otherName, , Foreign] of kinds) {
      if (otherName === name) continue;
      expect(Kind.is(new Foreign('x'))).toBe(name === 'McpToolsetError');
    }
  });

  it('is() is false for whatever else there is, and never throws', () => {
    const values = [undefined, null, 0, '', 'x', Symbol('s'), 1n, {}, [], () => undefined, new Error('x'), new Map()];
    const lookalikes = [
      { name, code, message: 'x' },
      Object.create(null),
      Object.assign(new Error('x'), { name, code }),
    ];
    for (const value of [...values, ...lookalikes]) expect(Kind.is(value)).toBe(false);
  });

  it('the brand is not seen by JSON, keys and equality', () => {
    expect(Object.keys(new Kind('x')).sort()).toEqual(['code', 'name', 'outcome', 'toolset']);
    expect(new Kind('x')).toEqual(new Kind('x'));
    expect(Object.getOwnPropertySymbols({ ...new Kind('x') })).toEqual([]);
  });
});

describe('two copies of the package', () => {
  it('are really two', () => {
    expect(other.ToolError).not.toBe(ToolError);
    expect(otherCopy().ToolError).not.toBe(other.ToolError);
  });

  it("a tool may throw the other copy's ToolError: its message reaches the model", async () => {
    const Failing = Tool.define({
      name: 'failing',
      description: 'Fails.',
      inputSchema: {},
      call: () => {
        throw new other.ToolError('out of stock');
      },
    });
    expect(await new Failing().execute()).toMatchObject({ status: 'error', content: 'out of stock' });
  });

  it("and the other copy's CancelledError is thrown on", async () => {
    const cancelled = new other.CancelledError('enough');
    const Failing = Tool.define({
      name: 'failing',
      description: 'Fails.',
      inputSchema: {},
      call: () => Promise.reject(cancelled),
    });
    await expect(new Failing().execute()).rejects.toBe(cancelled);
  });
});

describe('a subclass of ToolError', () => {
  class OutOfStock extends ToolError {
    override readonly code = 'out_of_stock';
    constructor(readonly sku: string) {
      super(`No ${sku} left.`, { toolset: 'shop' });
    }
  }
  class SoldOut extends OutOfStock {}

  it('keeps what ToolError is, and has its own name, code and fields', () => {
    const error = new SoldOut('milk');
    expect(error).toMatchObject({ name: 'SoldOut', code: 'out_of_stock', sku: 'milk', toolset: 'shop' });
    expect(error).toBeInstanceOf(ToolError);
    expect([ToolError.is(error), other.ToolError.is(error), McpToolsetError.is(error)]).toEqual([true, true, true]);
    expect([ProviderError.is(error), ConfigurationError.is(error)]).toEqual([false, false]);
  });

  it('has an is() of its own, which is not true for every ToolError', () => {
    expect([OutOfStock.is(new SoldOut('x')), SoldOut.is(new SoldOut('x'))]).toEqual([true, true]);
    expect([SoldOut.is(new OutOfStock('x')), OutOfStock.is(new ToolError('x'))]).toEqual([false, false]);
    expect(OutOfStock.is(new other.ToolError('x'))).toBe(false);
  });

  it('has a message that the model sees', async () => {
    const Failing = Tool.define({
      name: 'failing',
      description: 'Fails.',
      inputSchema: {},
      call: () => Promise.reject(new SoldOut('milk')),
    });
    const execution = await new Failing().execute();
    expect(execution).toMatchObject({ status: 'error', content: 'No milk left.' });
    expect(execution.error).toBeInstanceOf(SoldOut);
  });
});

describe('CleanupError', () => {
  it('holds every failure, in a list of its own that nobody changes', () => {
    const failures = [new Error('one'), 'two', undefined];
    const error = new CleanupError('3 failed', { errors: failures, toolset: 'shop', cause: failures[0] });
    failures.pop();
    expect(error.errors).toEqual([new Error('one'), 'two', undefined]);
    expect(Object.isFrozen(error.errors)).toBe(true);
    expect(error).toMatchObject({ name: 'CleanupError', code: 'cleanup_error', toolset: 'shop' });
    expect(error.cause).toBe(failures[0]);
  });

  it('is recognised across copies, with its errors', () => {
    const error: unknown = new other.CleanupError('x', { errors: [1, 2] });
    expect(error).not.toBeInstanceOf(CleanupError);
    expect(CleanupError.is(error) && error.errors).toEqual([1, 2]);
    expect(CleanupError.is(new AggregateError([1]))).toBe(false);
  });
});
