import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CUSTOMERS, type Customer } from './orders';
import { shopFor } from './shop-tools';

interface Session {
  readonly customer: Customer;
  readonly transport: StreamableHTTPServerTransport;
}

/**
 * The other side: an MCP server of somebody else, over Streamable HTTP, built on the official SDK. It wants a bearer token
 * with every request and answers by whose it is. Its events are `request` (a customer's name) and `cancelled`.
 */
export class ShopServer extends EventEmitter {
  private readonly sessions = new Map<string, Session>();

  private constructor(private readonly server: Server) {
    super();
    server.on('request', (req, res) => {
      this.handle(req, res).catch((error: unknown) => {
        console.error(error);
        res.destroy();
      });
    });
  }

  /** Listens on a free port of 127.0.0.1. */
  static async start(): Promise<ShopServer> {
    const server = createServer();
    const shop = new ShopServer(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return shop;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`;
  }

  /** How many sessions are open. */
  get size(): number {
    return this.sessions.size;
  }

  /** Ends all sessions and stops to listen. */
  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const { transport } of this.sessions.values()) await transport.close();
    this.server.closeAllConnections();
    await closed;
  }

  private async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const token = /^Bearer (.+)$/.exec(req.headers.authorization ?? '')?.[1] ?? '';
    const customer = CUSTOMERS.get(token);
    if (!customer) return refuse(res, 401, 'Unknown token.');
    this.emit('request', customer.name);
    const id = req.headers['mcp-session-id'];
    if (id === undefined) return (await this.open(customer)).handleRequest(req, res);
    const session = this.sessions.get(String(id));
    if (session?.customer !== customer) return refuse(res, 404, 'Session not found.');
    await session.transport.handleRequest(req, res);
  }

  private async open(customer: Customer): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void this.sessions.set(id, { customer, transport }),
    });
    await shopFor(customer, () => this.emit('cancelled')).connect(transport);
    const { onclose } = transport;
    transport.onclose = () => {
      this.sessions.delete(transport.sessionId ?? '');
      onclose?.();
    };
    return transport;
  }
}

function refuse(res: ServerResponse, status: number, message: string): void {
  res.writeHead(status, { 'Content-Type': 'application/json' });
  res.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }));
}
