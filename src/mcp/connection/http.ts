import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { HttpConnectionOptions } from '../../toolset/client-source';
import { redaction } from './redaction';

/** A transport over Streamable HTTP (MCP specification, Transports). */
export function httpTransport(options: HttpConnectionOptions): HttpTransport {
  return new HttpTransport(options);
}

class HttpTransport extends StreamableHTTPClientTransport {
  /** Takes the values of the application's headers out of a text. */
  readonly redact: (text: string) => string;

  constructor({ url, headers }: HttpConnectionOptions) {
    super(new URL(url), { requestInit: { headers: { ...headers } }, fetch: withoutStandingStream });
    this.redact = redaction(Object.values(headers ?? {}));
  }
}

/** Nothing listens to the standing stream, so the server is not asked for one; a stream that broke may be resumed. */
const withoutStandingStream: FetchLike = (url, init) => {
  const resumes = new Headers(init?.headers).has('last-event-id');
  if (init?.method === 'GET' && !resumes) return Promise.resolve(new Response(null, { status: 405 }));
  return fetch(url, init);
};
