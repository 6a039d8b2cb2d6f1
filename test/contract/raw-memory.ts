import { Client, type ClientOptions } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { UnconnectedClient } from 'mcp-toolset';
import type { JsonObject } from '../servers';

/** A request as a server in memory gets it. */
interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
}

/** Answers one request with a raw result, or an error; undefined answers nothing. */
export type MemoryHandler = (params: JsonObject) => { result: unknown } | { error: unknown } | undefined;

/**
 * A server in memory that says anything: what it sends reaches the client as it is, the very same objects. Handlers are
 * asked by method; `tools/list` and `tools/call` have none by default.
 */
export class RawMemory {
  /** Every message of a client. */
  readonly received: Request[] = [];
  /** How many clients are connected. */
  connections = 0;
  private readonly ends: InMemoryTransport[] = [];

  constructor(
    private readonly handlers: Readonly<Record<string, MemoryHandler>>,
    private readonly clientOptions: ClientOptions = {},
  ) {}

  connect(): UnconnectedClient {
    const [transport, end] = InMemoryTransport.createLinkedPair();
    this.connections += 1;
    end.onclose = () => void (this.connections -= 1);
    end.onmessage = (message) => this.answer(message as unknown as Request, end);
    this.ends.push(end);
    return { client: new Client({ name: 'raw-memory', version: '1.0.0' }, this.clientOptions), transport };
  }

  /** Sends a notification to every client. */
  async notify(method: string): Promise<void> {
    for (const end of this.ends) await end.send({ jsonrpc: '2.0', method });
  }

  private answer(request: Request, end: InMemoryTransport): void {
    this.received.push(request);
    if (request.id === undefined) return;
    const handler = this.handlers[request.method] ?? polite[request.method];
    const answer = handler ? handler(request.params) : { error: { code: -32601, message: 'Method not found' } };
    const message = { jsonrpc: '2.0', id: request.id, ...answer } as unknown as JSONRPCMessage;
    // In memory, what a listener of the client throws comes back to the server.
    if (answer) end.send(message).catch(() => undefined);
  }
}

const polite: Readonly<Record<string, MemoryHandler>> = {
  initialize: ({ protocolVersion }) => ({
    result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'raw-memory', version: '1.0.0' } },
  }),
};
