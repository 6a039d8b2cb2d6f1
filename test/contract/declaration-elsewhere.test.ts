import { container } from 'tsyringe';
import { configureMcpToolset, RunFactory, ToolRegistry } from 'mcp-toolset';
import { closeRunsAfterEach, faultOf, startRun } from './started-run';

closeRunsAfterEach();

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
    ['a class that is nothing to it', class Plain {}, /the class Plain is nothing that can be registered.*@McpToolset/],
    ['an anonymous class', class {}, /the class \(anonymous\) is nothing that can be registered/],
    ['a function', () => undefined, /is nothing that can be registered/],
    ['null', null, /null is nothing that can be registered/],
    ['undefined, as a circular import gives it', undefined, /undefined is nothing that can be registered/],
    ['a string', 'Shop', /Shop is nothing that can be registered/],
    ['an object', {}, /is nothing that can be registered/],
    ['an object without a prototype', Object.create(null), /is nothing that can be registered/],
    ['a symbol', Symbol('s'), /is nothing that can be registered/],
  ];
  it.each(entries)('a registry refuses %s', async (_, entry, expected) => {
    const registry = startRun().resolve(ToolRegistry);
    expect(await faultOf(() => registry.register(entry as never))).toMatch(expected);
    expect(registry.names).toEqual([]);
  });
});
