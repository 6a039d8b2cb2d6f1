import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Implementation } from '@modelcontextprotocol/sdk/types.js';
import type { ConnectionOptions, UnconnectedClient } from '../../toolset/client-source';
import { isHttp } from '../../toolset/connection-options';
import { httpTransport } from './http';
import { stdioTransport } from './stdio';

/** A new official client, and the transport that the options describe. */
export function unconnectedClient(options: ConnectionOptions, clientInfo: Implementation): UnconnectedClient {
  const transport = isHttp(options) ? httpTransport(options) : stdioTransport(options);
  return { client: new Client(clientInfo), transport, timeout: options.timeout };
}
