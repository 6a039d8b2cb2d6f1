import 'reflect-metadata';
import { McpToolset, RunFactory, ToolRegistry } from 'mcp-toolset';
import { createTestServer, overrideClient } from 'mcp-toolset/testing';
import { mock } from 'node:test';
import { container } from 'tsyringe';
import { closeServersAfterEach, startRawHttp, text, tool } from '../servers';
import { toolsetFor } from '../contract/live-run';

closeServersAfterEach();

describe.each([
  ["jest's fake timers, which fake all there are", () => jest.useFakeTimers(), () => jest.useRealTimers()],
  [
    "the timers of node's test runner, which fake those of modules too",
    () => mock.timers.enable({ apis: ['setImmediate', 'setTimeout', 'setInterval'] }),
    () => mock.timers.reset(),
  ],
])('a test with %s', (_name, fake, stop) => {
  beforeEach(() => void fake());
  afterEach(() => void stop());

  it('finds tools, calls them and closes its run, in memory', async () => {
    @McpToolset({ connection: { url: 'https://mcp.example/rpc' } })
    class HelpCenterTools {}
    const testContainer = container.createChildContainer();
    overrideClient(testContainer, HelpCenterTools, createTestServer({ tools: { x: { call: () => 'done' } } }));
    const run = testContainer.resolve(RunFactory).start();
    const tools = run.resolve(ToolRegistry);
    await tools.register(HelpCenterTools);
    expect(await tools.execute({ name: 'x' })).toMatchObject({ content: 'done' });
    await run.close();
  });

  it('over HTTP too', async () => {
    const server = await startRawHttp({ tools: [tool('x')], call: () => text('done') });
    const run = container.resolve(RunFactory).start();
    const tools = run.resolve(ToolRegistry);
    await tools.register(toolsetFor(server.connection));
    expect(await tools.execute({ name: 'x' })).toMatchObject({ content: 'done' });
    await run.close();
  });
});
