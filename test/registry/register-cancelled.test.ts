import { configureMcpToolset, CancelledError, McpToolset, RunFactory, ToolRegistry } from 'mcp-toolset';
import { overrideClient } from 'mcp-toolset/testing';
import { container as root } from 'tsyringe';

@McpToolset({ connection: { command: 'never-started' } })
class FirstTools {}

@McpToolset({ connection: { command: 'never-started' } })
class SecondTools {}

it('R28: a run that is cancelled while two toolsets connect says so once, and logs nothing', async () => {
  const container = root.createChildContainer();
  const logged: unknown[] = [];
  const log = (...entry: unknown[]): void => void logged.push(entry);
  configureMcpToolset(container, { logger: { debug: log, warn: log, error: log } });
  const run = container.resolve(RunFactory).start({ container });
  let connecting = 0;
  const connect = (): Promise<never> => {
    connecting += 1;
    if (connecting === 2) run.cancel('the user left');
    return new Promise<never>(() => undefined);
  };
  for (const toolset of [FirstTools, SecondTools]) overrideClient(container, toolset, { connect });

  const registered = run.resolve(ToolRegistry).register(FirstTools, SecondTools);

  await expect(registered).rejects.toThrow(CancelledError);
  expect(connecting).toBe(2);
  expect(logged).toEqual([]);
  await run.close();
});
