import {
  CancelledError,
  ConfigurationError,
  CreateClient,
  MapTool,
  McpToolset,
  OnError,
  SessionRegistry,
  Tool,
  ToolBinding,
  ToolRegistry,
  ToolsetDiscovery,
  type Run,
  type ToolEntry,
  type UnconnectedClient,
} from 'mcp-toolset';
import { createTestServer, overrideClient } from 'mcp-toolset/testing';
import { container } from 'tsyringe';
import { closeServersAfterEach, startRawHttp, tool } from '../servers';
import { closeRunsAfterEach, gate, registered, startRun, toolsetFor } from './live-run';

closeServersAfterEach();
closeRunsAfterEach();

const sessions = new SessionRegistry();

function never(asked: () => void): Promise<never> {
  asked();
  return new Promise(() => undefined);
}

function toolThatAsks(availableIf: () => Promise<boolean>): ToolEntry {
  const inputSchema = { type: 'object' };
  return Tool.define({ name: 'asks', description: 'Asks.', inputSchema, availableIf, call: () => 'called' });
}

function toolsetThatFails(onError: () => Promise<never>): ToolEntry {
  @McpToolset({ optional: true, connection: { url: 'http://127.0.0.1:9/', allowInsecureHttp: true } })
  class Failing {
    @OnError()
    report(): Promise<never> {
      return onError();
    }
  }
  return Failing;
}

function toolsetThatMaps(mapTool: () => Promise<never>): ToolEntry {
  const server = createTestServer({ tools: { echo: { call: () => 'echo' } } });
  @McpToolset()
  class Mapping {
    @CreateClient()
    client(): Promise<UnconnectedClient> {
      return server.connect();
    }
    @MapTool()
    map(): Promise<never> {
      return mapTool();
    }
  }
  return Mapping;
}

describe('R36: what is closed refuses further work, and says so', () => {
  async function refusal(work: () => unknown): Promise<unknown> {
    try {
      return await work();
    } catch (error) {
      return error;
    }
  }

  const server = createTestServer({ tools: { echo: { call: () => 'echo' } } });
  const Remote = toolsetFor({ url: 'https://unused.example/' });

  async function stage(): Promise<{ run: Run; registry: ToolRegistry; echo: Tool }> {
    const run = startRun();
    overrideClient(run.container, Remote, server);
    const registry = await registered(run, Remote);
    return { run, registry, echo: registry.get('echo')! };
  }

  it.each([
    ['closed', (_run: Run) => undefined],
    ['cancelled and then closed', (run: Run) => run.cancel('before')],
  ])('a run that is %s: CancelledError', async (_how, before) => {
    const { run, registry, echo } = await stage();
    before(run);
    await run.close();
    const binding = new ToolBinding({ run });
    const work: Record<string, () => unknown> = {
      check: () => run.check(),
      register: () => run.register({ close: () => undefined }),
      resolve: () => run.resolve(ToolRegistry),
      'register tools': () => registry.register(Remote),
      execute: () => registry.execute({ name: 'echo' }),
      'execute what is unknown': () => registry.execute({ name: 'nothing' }),
      'execute the tool itself': () => echo.execute(),
      discover: () => new ToolsetDiscovery().discover(Remote, binding),
      'a new registry': () => new ToolRegistry(binding),
    };
    for (const [name, attempt] of Object.entries(work)) {
      const error = await refusal(attempt);
      expect([name, error]).toEqual([name, expect.any(CancelledError)]);
      expect([name, (error as Error).message]).toEqual([name, expect.stringContaining('is closed')]);
    }
  });

  it('a registry of an open run: ConfigurationError', async () => {
    const { run, registry } = await stage();
    await registry.close();
    for (const attempt of [() => registry.register(Remote), () => registry.execute({ name: 'echo' })]) {
      const error = await refusal(attempt);
      expect(error).toBeInstanceOf(ConfigurationError);
      expect((error as Error).message).toContain('is closed');
    }
    expect(run.state).toBe('active');
  });

  it('a registry that is closed while it registers closes what it opened', async () => {
    const raw = await startRawHttp({ on: { 'tools/list': () => undefined } });
    const registry = new ToolRegistry(new ToolBinding({ container: container.createChildContainer() }));
    const registering = registry.register(toolsetFor(raw.connection));
    registering.catch(() => undefined);
    const list = await raw.waitFor('tools/list');
    const closing = registry.close();
    list.json({ tools: [tool('x')] });
    await expect(registering).rejects.toThrow(/is closed/);
    await closing;
    expect(raw.sessions).toEqual([]);
    expect(sessions.size).toBe(0);
  });

  it.each<[string, (asked: () => void) => ToolEntry]>([
    ['a provider', (asked) => ({ tools: () => never(asked) })],
    ['a tool that asks whether it is available', (asked) => toolThatAsks(() => never(asked))],
    ['@OnError()', (asked) => toolsetThatFails(() => never(asked))],
    ['@MapTool()', (asked) => toolsetThatMaps(() => never(asked))],
  ])('a run that is closed while %s never answers', async (_who, entry) => {
    const run = startRun();
    const asked = gate();
    const registering = run.resolve(ToolRegistry).register(entry(asked.open));
    registering.catch(() => undefined);
    await asked.passed;
    await run.close();
    await expect(registering).rejects.toThrow(CancelledError);
  });

  it('a run that is closed while it registers', async () => {
    const raw = await startRawHttp({ on: { 'tools/list': () => undefined } });
    const run = startRun();
    const registering = registered(run, toolsetFor(raw.connection));
    registering.catch(() => undefined);
    await raw.waitFor('tools/list');
    await run.close();
    await expect(registering).rejects.toThrow(/is closed/);
    expect(raw.sessions).toEqual([]);
  });
});
