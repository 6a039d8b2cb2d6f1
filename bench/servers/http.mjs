import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { answers } from './answers.mjs';

/**
 * The process of the server (MCP specification, Transports, Streamable HTTP). The path of the URL says which catalog and
 * which way of answering a client gets: `/<tools>/<schemas or plain>/<json or sse>`. It tells its parent its port, and
 * when asked how many sessions are open.
 */
const catalogs = new Map();
const sessions = new Set();

function answersFor(tools, schemas) {
  const key = `${tools}/${schemas}`;
  if (!catalogs.has(key)) catalogs.set(key, answers({ tools: Number(tools), schemas: schemas === 'schemas' }));
  return catalogs.get(key);
}

const server = createServer(async (request, response) => {
  const sessionId = request.headers['mcp-session-id'];
  if (request.method === 'DELETE') {
    sessions.delete(sessionId);
    return response.writeHead(200).end();
  }
  if (request.method !== 'POST') return response.writeHead(405).end();
  const chunks = await request.toArray();
  const message = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  const [, tools, schemas, mode] = request.url.split('/');
  const headers = {};
  if (message.method === 'initialize') {
    const id = randomUUID();
    sessions.add(id);
    headers['mcp-session-id'] = id;
  } else if (sessionId !== undefined && !sessions.has(sessionId)) {
    return response.writeHead(404).end();
  }
  const reply = answersFor(tools, schemas)(message);
  if (reply === undefined) return response.writeHead(202, headers).end();
  if (mode === 'sse') {
    return response
      .writeHead(200, { ...headers, 'content-type': 'text/event-stream' })
      .end(`event: message\ndata: ${reply}\n\n`);
  }
  response.writeHead(200, { ...headers, 'content-type': 'application/json' }).end(reply);
});

// A pause between two rounds must not cost one of them its connection.
server.keepAliveTimeout = 10 * 60_000;
server.listen(0, '127.0.0.1', () => process.send({ value: { port: server.address().port } }));
process.on('message', ({ id }) => process.send({ id, value: { sessions: sessions.size } }));
process.on('disconnect', () => process.exit());
