import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Implementation } from '@modelcontextprotocol/sdk/types.js';
import type { ConnectionOptions, UnconnectedClient } from '../../toolset/client-source';
import { isHttp } from '../../toolset/connection-options';
import { HttpTransport } from './http';
import { StdioTransport } from './stdio';

/** A new official client, and the transport that the options describe (MCP specification, Transports). */
export function unconnectedClient(
  options: ConnectionOptions,
  { clientInfo, listens }: { readonly clientInfo: Implementation; readonly listens: boolean },
): UnconnectedClient {
  const transport = isHttp(options) ? new HttpTransport(options, listens) : new StdioTransport(options);
  return { client: new Client(clientInfo), transport, timeout: options.timeout };
}
