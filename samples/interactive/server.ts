import type { StdioConnectionOptions } from 'mcp-toolset';

/** The reference server `server-everything`, as a child process of the run. */
export const SERVER: StdioConnectionOptions = {
  command: process.execPath,
  args: [require.resolve('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
};
