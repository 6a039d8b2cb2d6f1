import { MCPServerStdio, MCPServerStreamableHttp } from '@openai/agents-core';

/** The OpenAI Agents SDK's servers, which use version 2 of the official client. */
export async function open({ kind, url, command, args }) {
  const server = kind === 'http' ? new MCPServerStreamableHttp({ url }) : new MCPServerStdio({ command, args });
  await server.connect();
  const tools = await server.listTools();
  return {
    tools,
    toolCount: tools.length,
    call: async (name, input) => (await server.callTool(name, input))[0].text,
    close: () => server.close(),
  };
}
