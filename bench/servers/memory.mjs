import { fromRoot } from '../library.mjs';
import { callResult, catalogPages } from './catalog.mjs';

const { Server } = fromRoot('@modelcontextprotocol/sdk/server/index.js');
const { InMemoryTransport } = fromRoot('@modelcontextprotocol/sdk/inMemory.js');
const { CallToolRequestSchema, ListToolsRequestSchema } = fromRoot('@modelcontextprotocol/sdk/types.js');

/** Starts the SDK's own server in this process and returns the client's end of its transport. */
export async function memoryTransport({ tools, schemas }) {
  const pages = catalogPages({ tools, schemas }).map((page) => JSON.parse(page));
  const server = new Server({ name: 'bench', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => pages[Number(params?.cursor ?? 0)]);
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => callResult(params, schemas));
  const [clientEnd, serverEnd] = InMemoryTransport.createLinkedPair();
  await server.connect(serverEnd);
  return clientEnd;
}
