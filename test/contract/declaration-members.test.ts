import { CreateClient, MapResult, MapTool, McpToolset, OnError } from 'mcp-toolset';
import { faultOf } from './started-run';

const HTTPS = { url: 'https://host.example/mcp' };

const unused = (): undefined => undefined;

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

describe('R2: decorators without their parentheses', () => {
  const misplaced = { MapTool, MapResult, OnError, CreateClient };
  it.each(Object.entries(misplaced))('@%s is refused where no compiler has refused it', (name, decorator) => {
    const use = decorator as unknown as (target: object, key: string, descriptor: PropertyDescriptor) => unknown;
    expect(() => use({}, 'method', { value: () => undefined })).toThrow(new RegExp(`Write @${name}\\(\\)`));
  });

  it.each(Object.entries(misplaced))('@%s says what to set where decorators are the standard ones', (_, decorator) => {
    const use = decorator() as unknown as (method: () => void, context: object) => unknown;
    expect(() => use(() => undefined, { kind: 'method', name: 'm' })).toThrow(/"experimentalDecorators": true/);
  });

  it('@McpToolset is refused', () => {
    expect(() => McpToolset(class Shop {} as never)).toThrow(/Write @McpToolset\(\)/);
  });
});
