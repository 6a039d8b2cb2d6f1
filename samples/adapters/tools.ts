import { McpToolset } from 'mcp-toolset';

/** Two tools of the reference server `server-everything`, which runs as a child process of each run. */
@McpToolset({
  connection: {
    command: process.execPath,
    args: [require.resolve('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
  },
  tools: { include: ['get-sum', 'get-tiny-image'] },
})
export class DemoTools {}
