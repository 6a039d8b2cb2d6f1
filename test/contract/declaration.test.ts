import { container } from 'tsyringe';
import {
  configureMcpToolset,
  CreateClient,
  MapResult,
  MapTool,
  McpToolset,
  OnError,
  RunFactory,
  ToolRegistry,
  type ConnectOptions,
  type ToolsetOptions,
  type UnconnectedClient,
} from 'mcp-toolset';
import { closeRunsAfterEach, discover, faultOf, startRun } from './started-run';

closeRunsAfterEach();

const HTTPS = { url: 'https://host.example/mcp' };

/** Declares a toolset with these options and no method. */
function declare(options: unknown): void {
  @McpToolset(options as ToolsetOptions)
  class Shop {}
  void Shop;
}

const unused = (): UnconnectedClient => {
  throw new Error('never called');
};

describe('R2: a toolset has exactly one source of clients', () => {
  it('refuses a class that has none, as it is declared', async () => {
    const message = await faultOf(() => declare({}));
    expect(message).toMatch(/Toolset Shop has no source of clients.*"connection".*@CreateClient/);
    expect(await faultOf(() => declare(undefined))).toBe(message);
    expect(await faultOf(() => declare({ connection: undefined }))).toBe(message);
  });

  it('refuses a class that has both, and names the method', async () => {
    const both = () => {
      @McpToolset({ connection: HTTPS })
      class Shop {
        @CreateClient()
        makeClient() {
          return unused();
        }
      }
      return Shop;
    };
    expect(await faultOf(both)).toMatch(/Toolset Shop has two sources.*"connection".*makeClient.*@CreateClient/);
  });

  it('refuses a child that has both, though its parent has one', async () => {
    @McpToolset({ connection: HTTPS })
    class Parent {}
    const both = () => {
      @McpToolset({ connection: HTTPS })
      class Child extends Parent {
        @CreateClient()
        makeClient() {
          return unused();
        }
      }
      return Child;
    };
    expect(await faultOf(both)).toMatch(/Toolset Child has two sources/);
  });
});

describe('R2: where decorators may stand', () => {
  type AnyMember = PropertyDecorator & MethodDecorator;
  const decorators: [string, () => AnyMember][] = [
    ['@CreateClient()', () => CreateClient() as unknown as AnyMember],
    ['@MapTool()', () => MapTool() as unknown as AnyMember],
    ['@MapResult()', () => MapResult() as unknown as AnyMember],
    ['@OnError()', () => OnError() as unknown as AnyMember],
  ];

  const misplaced: [string, (decorator: AnyMember) => unknown, RegExp][] = [
    [
      'a static method',
      (decorator) => {
        class Shop {
          @decorator
          static member(): undefined {
            return undefined;
          }
        }
        return Shop;
      },
      /Shop#member, .*static/,
    ],
    [
      'a static field',
      (decorator) => {
        class Shop {
          @decorator
          static member = unused;
        }
        return Shop;
      },
      /Shop#member, .*static/,
    ],
    [
      'a field',
      (decorator) => {
        class Shop {
          @decorator
          member = unused;
        }
        return Shop;
      },
      /Shop#member, .*not a method/,
    ],
    [
      'a getter',
      (decorator) => {
        class Shop {
          @decorator
          get member() {
            return unused;
          }
        }
        return Shop;
      },
      /Shop#member, .*not a method/,
    ],
    [
      'a setter',
      (decorator) => {
        class Shop {
          @decorator
          set member(_: unknown) {}
        }
        return Shop;
      },
      /Shop#member, .*not a method/,
    ],
    [
      'a field that is named by a symbol',
      (decorator) => {
        const member = Symbol('secret');
        class Shop {
          @decorator
          [member] = unused;
        }
        return Shop;
      },
      /Shop#Symbol\(secret\), .*not a method/,
    ],
    [
      'two methods of one class',
      (decorator) => {
        class Shop {
          @decorator
          first(): undefined {
            return undefined;
          }
          @decorator
          second(): undefined {
            return undefined;
          }
        }
        return Shop;
      },
      /Shop#second, .*first is marked .* already/,
    ],
    [
      'one method twice',
      (decorator) => {
        class Shop {
          @decorator
          @decorator
          member(): undefined {
            return undefined;
          }
        }
        return Shop;
      },
      /Shop#member, .*member is marked .* already/,
    ],
  ];

  describe.each(decorators)('%s', (name, decorator) => {
    it.each(misplaced)('is refused on %s', async (_, place, expected) => {
      const message = await faultOf(() => place(decorator()));
      expect(message).toMatch(expected);
      expect(message).toContain(name);
    });
  });

  it('refuses @McpToolset on a class twice', async () => {
    const twice = () => {
      @McpToolset({ connection: HTTPS })
      @McpToolset({ connection: HTTPS })
      class Shop {}
      return Shop;
    };
    expect(await faultOf(twice)).toMatch(/Toolset Shop is marked @McpToolset\(\) twice/);
  });

  it('refuses @McpToolset on what is no class', async () => {
    const decorate = McpToolset({ connection: HTTPS }) as (target: unknown) => void;
    expect(await faultOf(() => decorate({ constructor: Object }))).toMatch(/is not a toolset/);
  });
});

describe('R2: options of @McpToolset', () => {
  const times = [NaN, Infinity, -Infinity, 0, -1, 0.5, '1000', null, 10n, {}];
  const counts = [NaN, Infinity, 0, -1, 1.5, '5', null];
  const faulty: [string, unknown, RegExp][] = [
    ['no object', 'https://host.example', /expected object/],
    ['null', null, /expected object/],
    ['an unknown option', { connection: HTTPS, timeOut: 5 }, /unknown option "timeOut"/],
    ['several unknown options', { connection: HTTPS, a: 1, b: 2 }, /unknown option "a", "b"/],
    ['an unknown limit', { connection: HTTPS, limits: { maxTool: 5 } }, /unknown option "limits.maxTool"/],
    ['an unknown key of tools', { connection: HTTPS, tools: { only: [] } }, /unknown option "tools.only"/],
    ['several faults, all of them', { connection: HTTPS, optional: 1, x: 1 }, /"optional".*unknown option "x"/],
    ['an empty name', { connection: HTTPS, name: '' }, /"name": expected a name/],
    ['a name that is no string', { connection: HTTPS, name: 5 }, /"name"/],
    ['optional that is no boolean', { connection: HTTPS, optional: 'yes' }, /"optional"/],
    ['calls in an unknown way', { connection: HTTPS, calls: 'parallel' }, /"calls"/],
    ['limits that are no object', { connection: HTTPS, limits: 5 }, /"limits"/],
    ['include that is no array', { connection: HTTPS, tools: { include: 'a' } }, /"tools.include": expected an array/],
    ['exclude with an entry that is no string', { connection: HTTPS, tools: { exclude: [1] } }, /"tools.exclude.0"/],
    ['a prefix outside the alphabet', { connection: HTTPS, tools: { prefix: 'a.b' } }, /"tools.prefix": expected only/],
    ...times.map((timeout): [string, unknown, RegExp] => [
      `a timeout like ${typeof timeout === 'object' ? JSON.stringify(timeout) : `${typeof timeout} ${String(timeout)}`}`,
      { connection: HTTPS, timeout },
      /"timeout": expected a finite number of milliseconds, at least 1/,
    ]),
    ...counts.map((maxTools): [string, unknown, RegExp] => [
      `a limit like ${typeof maxTools} ${String(maxTools)}`,
      { connection: HTTPS, limits: { maxTools } },
      /"limits.maxTools": expected a whole number of at least 1/,
    ]),
  ];

  it.each(faulty)('refuses %s', async (_, options, expected) => {
    const message = await faultOf(() => declare(options));
    expect(message).toMatch(/^Toolset Shop, @McpToolset\(\): /);
    expect(message).toMatch(expected);
  });

  it('accepts the smallest and the largest times', () => {
    for (const timeout of [1, 1.5, 2 ** 31, Number.MAX_VALUE]) declare({ connection: HTTPS, timeout });
  });

  it.each(times)('refuses @CreateClient with the timeout %p', async (timeout) => {
    const declareFactory = () => {
      class Shop {
        @CreateClient({ timeout } as unknown as ConnectOptions)
        makeClient() {
          return unused();
        }
      }
      return Shop;
    };
    expect(await faultOf(declareFactory)).toMatch(
      /^Shop#makeClient, @CreateClient\(\): option "timeout": expected a fin/,
    );
  });

  it.each([null, 5, 'x'])('refuses @CreateClient(%p)', async (options) => {
    const declareFactory = () => {
      class Shop {
        @CreateClient(options as unknown as ConnectOptions)
        makeClient() {
          return unused();
        }
      }
      return Shop;
    };
    expect(await faultOf(declareFactory)).toMatch(/^Shop#makeClient, @CreateClient\(\): .*expected object/);
  });
});

describe('R2: the option "connection"', () => {
  const where = /^Toolset Shop, (option "connection"|@McpToolset\(\)): /;
  const faulty: [string, unknown, RegExp][] = [
    ['null', null, /connection options, or a function/],
    ['a string', 'https://host.example', /connection options, or a function/],
    ['neither url nor command', {}, /either \{ url, … \}.*or \{ command, … \}/],
    ['both url and command', { ...HTTPS, command: 'node' }, /either \{ url, … \}.*or \{ command, … \}/],
    ['a url that is none', { url: 'host.example/mcp' }, /"url" is not a URL/],
    ['an empty url', { url: '' }, /"url" is not a URL/],
    ['a url of the wrong type', { url: 5 }, /"url": expected a URL/],
    ['http:', { url: 'http://host.example/mcp' }, /allowInsecureHttp/],
    ['http: where it is refused', { url: 'http://host.example', allowInsecureHttp: false }, /allowInsecureHttp/],
    ['another scheme', { url: 'ftp://host.example/' }, /scheme ftp:/],
    ['another scheme, insecurely', { url: 'ws://host.example/', allowInsecureHttp: true }, /scheme ws:/],
    ['allowInsecureHttp of the wrong type', { ...HTTPS, allowInsecureHttp: 1 }, /"allowInsecureHttp"/],
    ['an unknown HTTP option', { ...HTTPS, header: {} }, /unknown option "header"/],
    ['a stdio option with a url', { ...HTTPS, args: [] }, /unknown option "args"/],
    ['an HTTP option with a command', { command: 'node', headers: {} }, /unknown option "headers"/],
    ['headers that are no object', { ...HTTPS, headers: 'a: b' }, /"headers"/],
    ['an HTTP timeout of 0', { ...HTTPS, timeout: 0 }, /"timeout": expected a finite number/],
    ['an empty command', { command: '' }, /"command": expected the name of an executable/],
    ['a command of the wrong type', { command: ['node'] }, /"command"/],
    ['args that are no array', { command: 'node', args: '-v' }, /"args"/],
    ['an argument that is no string', { command: 'node', args: ['-e', 1] }, /"args.1"/],
    ['an empty cwd', { command: 'node', cwd: '' }, /"cwd"/],
    ['a stdio timeout of NaN', { command: 'node', timeout: NaN }, /"timeout": expected a finite number/],
  ];

  it.each(faulty)('refuses %s', async (_, connection, expected) => {
    const message = await faultOf(() => declare({ connection }));
    expect(message).toMatch(where);
    expect(message).toMatch(expected);
  });

  const secret = 'hunter2-s3cr3t';
  const secretive: [string, unknown, RegExp][] = [
    ['a header with a line break', { ...HTTPS, headers: { 'x-key': `${secret}\nb: c` } }, /"headers.x-key"/],
    ['a header with a null byte', { ...HTTPS, headers: { 'x-key': `${secret}\0` } }, /"headers.x-key"/],
    ['a header outside Latin-1', { ...HTTPS, headers: { 'x-key': `${secret}✓` } }, /"headers.x-key"/],
    ['a header that is an array', { ...HTTPS, headers: { 'x-key': [secret] } }, /"headers.x-key": expected a string/],
    [
      'a header that is an object',
      { ...HTTPS, headers: { 'x-key': { secret } } },
      /"headers.x-key": expected a string/,
    ],
    ['a header name that is none', { ...HTTPS, headers: { 'x key': secret } }, /"headers.x key"/],
    [
      'a url with a password',
      { url: `https://user:${secret}@host.example/mcp` },
      /"url" holds a user name or password/,
    ],
    ['a url with a user name', { url: `https://${secret}@host.example/mcp` }, /"url" holds a user name or password/],
    ['a broken url with a password', { url: `https://user:${secret}@` }, /"url" is not a URL/],
    ['a variable that is no string', { command: 'node', env: { KEY: [secret] } }, /"env.KEY": expected a string/],
  ];

  it.each(secretive)('refuses %s without telling its value', async (_, connection, expected) => {
    for (const use of [() => declare({ connection }), () => returned(connection)]) {
      const message = await faultOf(use);
      expect(message).toMatch(where);
      expect(message).toMatch(expected);
      expect(message).not.toContain(secret);
    }
  });

  /** The same options, from a function. */
  async function returned(connection: unknown): Promise<void> {
    @McpToolset({ connection: () => connection as typeof HTTPS })
    class Shop {}
    await discover(Shop);
  }

  it('is told of at declaration, before any run', () => {
    expect(() => declare({ connection: { url: 'http://host.example' } })).toThrow(/allowInsecureHttp/);
    expect(() => declare({ connection: HTTPS })).not.toThrow();
    expect(() => declare({ connection: { url: new URL(HTTPS.url) } })).not.toThrow();
    expect(() => declare({ connection: { url: 'HTTPS://HOST.EXAMPLE' } })).not.toThrow();
  });
});

describe('R2: the other places that take options', () => {
  const runOptions: [string, object, RegExp][] = [
    ['an unknown option', { actor: 'ada' }, /RunFactory#start: unknown option "actor"/],
    ['an empty id', { id: '' }, /"id"/],
    ['an actor that is no string', { actorId: 5 }, /"actorId"/],
    ['a timeout of NaN', { timeout: NaN }, /"timeout": expected a finite number/],
    ['a timeout of Infinity', { timeout: Infinity }, /"timeout": expected a finite number/],
    ['a timeout of 0', { timeout: 0 }, /"timeout": expected a finite number/],
    ['a deadline that is no Date', { deadline: 1_000 }, /"deadline": expected a valid Date/],
    ['an invalid Date', { deadline: new Date(NaN) }, /"deadline": expected a valid Date/],
    ['a signal that is none', { signal: {} }, /"signal": expected an AbortSignal/],
    ['a container that is none', { container: {} }, /"container": expected a tsyringe container/],
  ];
  it.each(runOptions)('a run refuses %s', async (_, options, expected) => {
    expect(await faultOf(() => container.resolve(RunFactory).start(options))).toMatch(expected);
  });

  const settings: [string, object, RegExp][] = [
    ['an unknown option', { log: console }, /configureMcpToolset: unknown option "log"/],
    ['a timeout of 0', { timeout: 0 }, /"timeout": expected a finite number/],
    ['a limit of 0', { limits: { maxPages: 0 } }, /"limits.maxPages": expected a whole number/],
    ['a logger without warn', { logger: { debug() {}, error() {} } }, /"logger": expected an object with the methods/],
    ['a client without a version', { clientInfo: { name: 'x' } }, /"clientInfo.version"/],
  ];
  it.each(settings)('configureMcpToolset refuses %s', async (_, options, expected) => {
    const child = container.createChildContainer();
    expect(await faultOf(() => configureMcpToolset(child, options))).toMatch(expected);
  });

  const entries: [string, unknown, RegExp][] = [
    ['a class that is nothing to it', class Plain {}, /the class Plain is no entry.*@McpToolset/],
    ['an anonymous class', class {}, /the class \(anonymous\) is no entry/],
    ['a function', () => undefined, /is no entry/],
    ['null', null, /null is no entry/],
    ['undefined, as a circular import gives it', undefined, /undefined is no entry/],
    ['a string', 'Shop', /Shop is no entry/],
    ['an object', {}, /is no entry/],
    ['an object without a prototype', Object.create(null), /is no entry/],
    ['a symbol', Symbol('s'), /is no entry/],
  ];
  it.each(entries)('a registry refuses %s', async (_, entry, expected) => {
    const registry = startRun().resolve(ToolRegistry);
    expect(await faultOf(() => registry.register(entry as never))).toMatch(expected);
    expect(registry.names).toEqual([]);
  });
});
