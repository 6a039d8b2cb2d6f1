import { MultiServerMCPClient } from '@langchain/mcp-adapters';

/** LangChain's adapters, which use the official client. */
export async function open({ kind, url, command, args }) {
  const server = kind === 'http' ? { transport: 'http', url } : { transport: 'stdio', command, args };
  const client = new MultiServerMCPClient({ mcpServers: { bench: server } });
  const tools = await client.getTools();
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    tools,
    toolCount: tools.length,
    call: async (name, input) => textOf(await byName.get(name).invoke(input)),
    close: () => client.close(),
  };
}

/** With structured content the answer is a content block, else it is the text. */
function textOf(answer) {
  return typeof answer === 'string' ? answer : answer.text;
}
