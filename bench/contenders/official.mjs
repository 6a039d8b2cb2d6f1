import { fromRoot } from '../library.mjs';
import { memoryTransport } from '../servers/memory.mjs';

const { Client } = fromRoot('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = fromRoot('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { StdioClientTransport } = fromRoot('@modelcontextprotocol/sdk/client/stdio.js');

/** The official client, unconnected, and its transport to a target. */
export async function unconnected(target) {
  const client = new Client({ name: 'bench', version: '1.0.0' });
  if (target.kind === 'http') return { client, transport: new StreamableHTTPClientTransport(new URL(target.url)) };
  if (target.kind === 'stdio') {
    return { client, transport: new StdioClientTransport({ command: target.command, args: target.args }) };
  }
  return { client, transport: await memoryTransport(target.catalog) };
}

/** Ends a session as the library does: the server is told, then the client closes. */
export async function closeOfficial({ client, transport }) {
  await transport.terminateSession?.();
  await client.close();
}

/** The first text of a result. */
export function textOf({ content }) {
  return content[0].text;
}
