import { inspect } from 'node:util';
import {
  CreateClient,
  McpToolset,
  type ConnectOptions,
  type ToolsetOptions,
  type UnconnectedClient,
} from 'mcp-toolset';
import { faultOf } from './started-run';

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
      `the timeout ${inspect(timeout)}`,
      { connection: HTTPS, timeout },
      /"timeout": expected a finite number of milliseconds, at least 1/,
    ]),
    ...counts.map((maxTools): [string, unknown, RegExp] => [
      `the limit ${inspect(maxTools)}`,
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
