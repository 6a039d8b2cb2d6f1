/** `npm start`: two MCP servers and a local tool become the tools of one agent run. No key, no network. */
import 'reflect-metadata';
import { constants } from 'node:os';
import { container } from 'tsyringe';
import { RunFactory, SessionRegistry } from 'mcp-toolset';
import { QuickstartController } from './controller';
import { EverythingServer } from './everything-server';
import { liveChildren } from './live-children';
import { bold, cyan, dim, heading, say, table } from './print';
import { Workspace } from './workspace';

const sessions = container.resolve(SessionRegistry);

async function main(signal: AbortSignal): Promise<void> {
  say(bold('mcp-toolset quickstart'), 'Two MCP servers and a local tool become the tools of one agent run.');
  const counts = [['', 'sessions', 'child processes']];
  const count = (when: string) => counts.push([when, String(sessions.size), String(liveChildren())]);
  {
    await using workspace = await Workspace.create();
    await using server = await EverythingServer.start(signal);
    container.registerInstance(Workspace, workspace).registerInstance(EverythingServer, server);
    showServers(server, workspace);
    {
      await using run = container.resolve(RunFactory).start({ actorId: 'ada', timeout: 60_000, signal });
      await run.resolve(QuickstartController).answer();
      count('while the run is open');
    }
    count('after it has closed');
  }
  count('after the sample has stopped its own server');
  heading('Nothing is left');
  table(counts, [String, cyan, cyan]);
}

function showServers({ url }: EverythingServer, { folder }: Workspace): void {
  heading('The servers');
  table(
    [
      ['DemoTools', 'Streamable HTTP', 'server-everything', url.href],
      ['FileTools', 'stdio', 'server-filesystem', folder],
      ['ArchiveTools', 'Streamable HTTP', 'none', 'down, but the toolset is optional'],
    ],
    [cyan, String, String, dim],
  );
}

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => {
    process.exitCode = 128 + constants.signals[name];
    stop.abort(name);
  });
}

main(stop.signal)
  .catch((error: unknown) => {
    process.exitCode ??= 1;
    console.error(stop.signal.aborted ? `\nStopped by ${stop.signal.reason}.` : error);
    console.error(`Left: ${sessions.size} sessions, ${liveChildren()} child processes.`);
  })
  .finally(() => sessions.closeAll());
