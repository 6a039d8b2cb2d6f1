import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio';

/** The AI SDK, which has a client of its own. */
export async function open({ kind, url, command, args }) {
  const transport = kind === 'http' ? { type: 'http', url } : new StdioMCPTransport({ command, args });
  const client = await createMCPClient({ transport });
  const tools = await client.tools();
  return {
    tools,
    toolCount: Object.keys(tools).length,
    call: async (name, input) =>
      (await tools[name].execute(input, { toolCallId: 'call', messages: [] })).content[0].text,
    close: () => client.close(),
  };
}
