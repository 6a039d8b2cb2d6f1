import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { randomUUID } from 'node:crypto';
import type { HttpExchange } from './http-exchange';
import type { Grant } from './oauth-grants';
import { OAuthServer, type OAuthServerOptions } from './oauth-server';
import { startRawHttp, type RawHttpServer } from './raw-http';
import { servers } from './server-registry';

/** Where a protected resource says who authorizes for it. */
export type ResourceMetadataPlace = 'header' | 'path' | 'root' | 'none';

/** How a protected resource and its authorization server behave. */
export interface ProtectedMcpOptions extends OAuthServerOptions {
  /** Where the resource describes itself (RFC 9728): at a place that only its challenge names, or a known one. Default `header`. */
  resourceMetadata?: ResourceMetadataPlace;
  /** Whether one origin is both. Default false. */
  sameOrigin?: boolean;
}

/** The scope that each request needs, and those that a call of one of these tools needs as well. */
const BASE_SCOPE = 'mcp:read';
const TOOL_SCOPES: Readonly<Record<string, string>> = { write: 'mcp:write', erase: 'mcp:erase' };
const OWN_PLACE = '/descriptions/of-this-resource';

/** An MCP server, the SDK's own over Streamable HTTP, that demands the tokens of an authorization server. */
export class ProtectedMcp {
  /** The scope that every request needs. */
  baseScope = BASE_SCOPE;
  /** What is said of a scope that is missing; by default the scopes that the call needs. */
  scopeChallenge: (needed: string) => string = (needed) => `error="insufficient_scope", scope="${needed}"`;
  /** Who called which tool, in order. */
  readonly served: { tool: string; subject: string }[] = [];
  readonly #transports = new Map<string, StreamableHTTPServerTransport>();
  readonly #place: ResourceMetadataPlace;

  constructor(
    readonly http: RawHttpServer,
    readonly authorization: OAuthServer,
    { resourceMetadata = 'header' }: ProtectedMcpOptions,
  ) {
    this.#place = resourceMetadata;
    authorization.resources.add(http.url);
    authorization.needsResource = resourceMetadata !== 'none';
    http.script = {
      sessions: false,
      ...http.script,
      on: {
        GET: (exchange) => exchange.raw(404),
        ...http.script.on,
        ...this.#metadataHandler(),
        '/mcp': (exchange) => this.#serve(exchange),
      },
    };
  }

  /** Connection options for a toolset. */
  get connection(): { url: string; allowInsecureHttp: true } {
    return this.http.connection;
  }

  /** Forgets every session, as a redeployed server does. */
  async restart(): Promise<void> {
    const transports = [...this.#transports.values()];
    this.#transports.clear();
    await Promise.all(transports.map((transport) => transport.close()));
  }

  async close(): Promise<void> {
    servers.delete(this);
    await this.restart();
  }

  #metadataHandler(): Record<string, (exchange: HttpExchange) => void> {
    const known = '/.well-known/oauth-protected-resource';
    const path = { header: OWN_PLACE, path: `${known}/mcp`, root: known, none: undefined }[this.#place];
    const metadata = { resource: this.http.url, authorization_servers: [this.authorization.issuer] };
    const answer = (exchange: HttpExchange): void =>
      exchange.raw(200, { 'content-type': 'application/json' }, JSON.stringify(metadata));
    return path === undefined ? {} : { [path]: answer };
  }

  async #serve(exchange: HttpExchange): Promise<void> {
    const grant = this.#admitted(exchange);
    if (!grant) return;
    const known = this.#transports.get(exchange.sessionId ?? '');
    if (!known && exchange.sessionId !== undefined) return exchange.raw(404, {}, 'No such session.');
    const transport = known ?? (await this.#session());
    const auth = { token: '', clientId: grant.clientId, scopes: [...grant.scopes], extra: { subject: grant.subject } };
    await transport.handleRequest(Object.assign(exchange.req, { auth }), exchange.res, exchange.message);
  }

  /** The grant of a request that may pass; another one is answered. */
  #admitted(exchange: HttpExchange): Grant | undefined {
    const [scheme, token = ''] = (exchange.headers.authorization ?? '').split(' ');
    const grant = scheme === 'Bearer' ? this.authorization.grants.grantOf(token) : undefined;
    if (grant?.resource !== this.http.url) {
      const error = token === '' ? '' : 'error="invalid_token", ';
      this.#challenge(exchange, 401, `${error}scope="${this.baseScope}"`);
      return undefined;
    }
    const name = exchange.method === 'tools/call' ? String(exchange.params.name) : '';
    const extra = TOOL_SCOPES[name];
    const needed = extra === undefined ? [this.baseScope] : [this.baseScope, extra];
    if (needed.every((scope) => grant.scopes.includes(scope))) {
      if (name !== '') this.served.push({ tool: name, subject: grant.subject });
      return grant;
    }
    this.#challenge(exchange, 403, this.scopeChallenge(needed.join(' ')));
    return undefined;
  }

  #challenge(exchange: HttpExchange, status: number, says: string): void {
    const place = this.#place === 'header' ? `, resource_metadata="${new URL(OWN_PLACE, this.http.url).href}"` : '';
    exchange.raw(status, { 'www-authenticate': `Bearer ${says}${place}`, 'content-type': 'text/plain' }, 'Not so.');
  }

  async #session(): Promise<StreamableHTTPServerTransport> {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#transports.set(id, transport),
      onsessionclosed: (id) => void this.#transports.delete(id),
    });
    const server = new McpServer({ name: 'protected', version: '1.0.0' });
    for (const name of ['whoami', ...Object.keys(TOOL_SCOPES)]) {
      server.registerTool(name, { description: `The tool ${name}.` }, ({ authInfo }) => ({
        content: [{ type: 'text', text: `${name} for ${String(authInfo?.extra?.subject)}` }],
      }));
    }
    await server.connect(transport);
    return transport;
  }
}

/** Starts an MCP server that wants authorization, and the authorization server that gives it. */
export async function startProtectedMcp(options: ProtectedMcpOptions = {}): Promise<ProtectedMcp> {
  const authorization = new OAuthServer(await startRawHttp(), options);
  const http = options.sameOrigin ? authorization.http : await startRawHttp();
  const resource = new ProtectedMcp(http, authorization, options);
  servers.add(resource);
  return resource;
}
