import { randomUUID } from 'node:crypto';
import type { RawHttpServer } from './raw-http';
import type { ResponseStream } from './response-stream';

/** Resolves when the client has taken everything that was sent to it in this stream so far: it answers a ping after it. */
export async function taken(server: RawHttpServer, stream: ResponseStream): Promise<void> {
  const id = randomUUID();
  stream.request(id, 'ping');
  await server.waitFor((exchange) => exchange.method === 'response' && exchange.id === id);
}
