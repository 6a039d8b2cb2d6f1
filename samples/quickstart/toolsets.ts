import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateClient, MapResult, MapTool, McpToolset, OnError, ToolBinding } from 'mcp-toolset';
import type { MapResultContext, MapToolContext, McpToolClass, McpToolsetError } from 'mcp-toolset';
import { EverythingServer } from './everything-server';
import { RunLog } from './run-log';
import { Workspace } from './workspace';

const FILESYSTEM_SERVER = require.resolve('@modelcontextprotocol/server-filesystem/dist/index.js');

/** Streamable HTTP, with a client that the application builds for each run. */
@McpToolset()
export class DemoTools {
  /** What the server calls its tools, and what the model sees instead. */
  private static readonly offered = new Map([
    ['echo', 'echo'],
    ['get-sum', 'add'],
    ['get-structured-content', 'weather'],
    ['get-tiny-image', 'logo'],
    ['get-annotated-message', 'announcement'],
  ]);

  constructor(
    private readonly server: EverythingServer,
    private readonly log: RunLog,
  ) {}

  @CreateClient()
  client({ run }: ToolBinding) {
    const headers = { 'X-Actor': run?.invocation.actorId ?? 'nobody' }; // a real application sends this user's token
    return {
      client: new Client({ name: 'quickstart', version: '1.0.0' }),
      transport: new StreamableHTTPClientTransport(this.server.url, { requestInit: { headers } }),
    };
  }

  @MapTool()
  curate(tool: McpToolClass, { mcpTool }: MapToolContext) {
    const name = DemoTools.offered.get(mcpTool.name);
    if (name === undefined) {
      this.log.omitted.push(mcpTool.name);
      return null;
    }
    tool.toolName = name;
    if (name === 'weather') tool.description = 'The weather in a city, now. Temperature in °C, humidity in percent.';
    return tool;
  }
}

/** stdio: the library starts a server process for each run and ends it with the run. */
@McpToolset({
  connection: ({ container }) => {
    const { folder } = container.resolve(Workspace);
    return { command: process.execPath, args: [FILESYSTEM_SERVER, folder], cwd: folder };
  },
  tools: { include: ['write_file', 'read_text_file', 'list_directory', 'search_files'], prefix: 'files_' },
})
export class FileTools {
  constructor(private readonly workspace: Workspace) {}

  /** The server wraps its text in an object and names folders of this machine; the model needs neither. */
  @MapResult()
  present(value: unknown, { result }: MapResultContext) {
    const text = result.isError ? value : (value as { content: unknown }).content;
    return String(text).replaceAll(this.workspace.folder, '<workspace>');
  }
}

/** A server that is down. The toolset is optional, so the run goes on without its tools. */
@McpToolset({
  connection: { url: 'http://127.0.0.1:2/mcp', allowInsecureHttp: true }, // nothing listens there
  optional: true,
})
export class ArchiveTools {
  constructor(private readonly log: RunLog) {}

  @OnError()
  report(error: McpToolsetError) {
    this.log.failures.push(error);
  }
}
