import {
  ConfigurationError,
  ListRoots,
  McpToolset,
  OnElicitation,
  OnLog,
  OnProgress,
  OnSampling,
  OnToolsChanged,
  type HandlerContext,
  type ToolsetClass,
} from 'mcp-toolset';
import { closeServersAfterEach, type RawHttpServer } from '../servers';
import { closeRunsAfterEach, registered, startRun } from '../contract/live-run';
import { ask, askingServer, form, type Reply } from './asking';

closeServersAfterEach();
closeRunsAfterEach();

type AnyMember = PropertyDecorator & MethodDecorator;

const decorators: [string, () => AnyMember][] = [
  ['@OnElicitation()', OnElicitation],
  ['@OnSampling()', OnSampling],
  ['@ListRoots()', ListRoots],
  ['@OnProgress()', OnProgress],
  ['@OnLog()', OnLog],
  ['@OnToolsChanged()', OnToolsChanged],
].map(([name, decorator]) => [name as string, decorator as unknown as () => AnyMember]);

/** What a server is answered by a toolset when it asks for roots. */
async function rootsOf(toolset: ToolsetClass): Promise<unknown> {
  const registry = await registered(startRun(), toolset);
  const { result }: Reply = await ask(registry, 'roots/list');
  return (result as { roots: { uri: string }[] }).roots.map(({ uri }) => uri);
}

function parentOf(server: RawHttpServer) {
  @McpToolset({ connection: server.connection })
  class Parent {
    protected readonly name: string = 'parent';

    @ListRoots()
    roots() {
      return [{ uri: `file:///${this.name}` }];
    }
  }
  return Parent;
}

describe('R1: handlers are inherited', () => {
  it("a subclass has its parent's, called on its own instance", async () => {
    const Parent = parentOf(await askingServer());
    @McpToolset()
    class Child extends Parent {
      protected override readonly name = 'child';
    }
    expect(await rootsOf(Parent)).toEqual(['file:///parent']);
    expect(await rootsOf(Child)).toEqual(['file:///child']);
  });

  it('a method that is overridden without its decorator keeps its role', async () => {
    const Parent = parentOf(await askingServer());
    class Child extends Parent {
      override roots() {
        return [...super.roots(), { uri: 'file:///more' }];
      }
    }
    expect(await rootsOf(Child)).toEqual(['file:///parent', 'file:///more']);
  });

  it("another method with the role replaces the parent's", async () => {
    const Parent = parentOf(await askingServer());
    class Child extends Parent {
      @ListRoots()
      folders() {
        return [{ uri: 'file:///folders' }];
      }
    }
    expect(await rootsOf(Child)).toEqual(['file:///folders']);
    expect(await rootsOf(Parent)).toEqual(['file:///parent']);
  });

  it('roles of parent and child come together, and may be protected', async () => {
    const server = await askingServer();
    const Parent = parentOf(server);
    class Child extends Parent {
      @OnElicitation()
      protected answer() {
        return { action: 'accept' as const, content: { name: this.name } };
      }
    }
    const registry = await registered(startRun(), Child);
    expect(await ask(registry, 'roots/list')).toEqual({ result: { roots: [{ uri: 'file:///parent' }] } });
    expect(await ask(registry, 'elicitation/create', form({ name: { type: 'string' } }))).toEqual({
      result: { action: 'accept', content: { name: 'parent' } },
    });
  });
});

describe('R3: handlers', () => {
  it('are methods of the instance that the run has, and get its binding', async () => {
    const seen: unknown[] = [];
    @McpToolset({ connection: (await askingServer()).connection })
    class Counting {
      private asked = 0;

      @ListRoots()
      roots(_request: object, { binding }: HandlerContext) {
        seen.push(binding.run?.id, (this.asked += 1));
        return [];
      }
    }
    for (const id of ['one', 'two']) {
      const registry = await registered(startRun({ id }), Counting);
      await ask(registry, 'roots/list');
      await ask(registry, 'roots/list');
    }
    expect(seen).toEqual(['one', 1, 'one', 2, 'two', 1, 'two', 2]);
  });
});

describe('R2: where handlers may stand', () => {
  const faultOf = (declare: () => unknown): string => {
    try {
      declare();
    } catch (error) {
      if (ConfigurationError.is(error)) return error.message;
      throw error;
    }
    throw new Error('nothing was thrown');
  };

  it.each(decorators)('%s stands on one method of a class', (name, decorator) => {
    const fault = faultOf(() => {
      class Shop {
        @decorator()
        first(): undefined {
          return undefined;
        }
        @decorator()
        second(): undefined {
          return undefined;
        }
      }
      return Shop;
    });
    expect(fault).toBe(`Shop#second, ${name}: first is marked ${name} already; keep one of them.`);
  });

  it.each(decorators)('%s stands on no static member', (name, decorator) => {
    const fault = faultOf(() => {
      class Shop {
        @decorator()
        static member(): undefined {
          return undefined;
        }
      }
      return Shop;
    });
    expect(fault).toBe(`Shop#member, ${name}: the member is static; mark a method of the instance.`);
  });

  it.each(decorators)('%s stands on no field and no accessor', (name, decorator) => {
    const faults = [
      faultOf(() => {
        class Shop {
          @decorator()
          member = (): undefined => undefined;
        }
        return Shop;
      }),
      faultOf(() => {
        class Shop {
          @decorator()
          get member(): undefined {
            return undefined;
          }
        }
        return Shop;
      }),
    ];
    const fault = `Shop#member, ${name}: the member is not a method; mark a method.`;
    expect(faults).toEqual([fault, fault]);
  });
});
