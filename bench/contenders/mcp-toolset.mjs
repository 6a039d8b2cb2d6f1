import { fromRoot } from '../library.mjs';
import { unconnected } from './official.mjs';

fromRoot('reflect-metadata');
const { CreateClient, McpToolset, RunFactory, ToolRegistry } = fromRoot('mcp-toolset');
const { container } = fromRoot('tsyringe');

/** What the toolset of a target lets its runs share. */
const CATALOG = { ttl: 3_600_000 };
const SHARING = {
  catalog: { catalog: CATALOG },
  session: { catalog: CATALOG, session: { scope: 'application', key: () => 'everyone' } },
};

const toolsets = new Map();

/** The toolset class of a target, which an application declares once. */
function toolsetFor(target, options) {
  const key = JSON.stringify(target);
  if (!toolsets.has(key)) toolsets.set(key, declared(target, options));
  return toolsets.get(key);
}

function declared(target, options) {
  if (target.kind === 'memory') {
    class MemoryTools {
      client() {
        return unconnected(target);
      }
    }
    CreateClient()(MemoryTools.prototype, 'client', Object.getOwnPropertyDescriptor(MemoryTools.prototype, 'client'));
    McpToolset(options)(MemoryTools);
    return MemoryTools;
  }
  const { url, command, args, sharing } = target;
  const connection = target.kind === 'http' ? { url, allowInsecureHttp: true } : { command, args };
  class RemoteTools {}
  McpToolset({ ...options, ...SHARING[sharing], connection })(RemoteTools);
  return RemoteTools;
}

/** The library, as an application uses it: a run, its registry, calls by name. */
export function toolset(options = {}) {
  return async (target) => {
    const run = container.resolve(RunFactory).start();
    const registry = run.resolve(ToolRegistry);
    await registry.register(toolsetFor(target, options));
    return {
      registry,
      toolCount: registry.specifications.length,
      call: async (name, input) => {
        const { status, content } = await registry.execute({ name, input });
        if (status !== 'success') throw new Error(`${name} failed: ${content}`);
        return content;
      },
      close: () => run.close(),
    };
  };
}

export const open = toolset();
