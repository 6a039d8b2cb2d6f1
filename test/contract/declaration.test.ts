import { CreateClient, McpToolset, type ToolsetOptions, type UnconnectedClient } from 'mcp-toolset';
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
