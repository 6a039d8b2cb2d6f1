import type { HttpExchange } from './http-exchange';
import { text, type CallParams, type JsonObject } from './rpc';

/** Answers one request, in any way and at any time. What it throws fails the test when the server closes. */
export type HttpHandler = (exchange: HttpExchange) => unknown;

/** How a scripted HTTP server behaves; what is left out is polite. */
export interface RawHttpScript {
  /**
   * What `tools/list` answers: the tools themselves, or a function of the parameters that returns one page: an array of
   * tools, or the raw result. A function that returns undefined has answered by itself.
   */
  tools?: readonly unknown[] | ((params: JsonObject, exchange: HttpExchange) => unknown);
  /**
   * What `tools/call` answers: the raw result. A function that returns undefined has answered by itself. By default the
   * arguments come back as text.
   */
  call?: (params: CallParams, exchange: HttpExchange) => unknown;
  /** Fields that replace those of the polite `initialize` result. */
  initialize?: JsonObject;
  /** False: a server without session ids. */
  sessions?: boolean;
  /**
   * Handlers by JSON-RPC method, by HTTP method (`GET`, `DELETE`, …), by `response`, `batch` or `invalid`, or by path
   * (`/other`: before everything else, and with no check of the session).
   */
  on?: Record<string, HttpHandler>;
}

/** The session book of a server. */
export interface SessionBook {
  has(id: string): boolean;
  readonly everOpened: boolean;
  end(id: string): void;
}

/** Answers one request by the script's handler for it, or politely. */
export async function answer(exchange: HttpExchange, script: RawHttpScript, sessions: SessionBook): Promise<void> {
  const byPath = handlerFor(script, exchange.path);
  if (byPath) return void (await byPath(exchange));
  if (script.sessions !== false && !admits(sessions, exchange)) return;
  const handler = handlerFor(script, exchange.method);
  if (handler) await handler(exchange);
  else await answerPolitely(exchange, script, sessions);
}

/** Answers one request as a well-behaved server does. */
export async function answerPolitely(
  exchange: HttpExchange,
  script: RawHttpScript,
  sessions: SessionBook,
): Promise<void> {
  switch (exchange.method) {
    case 'initialize':
      return initialize(exchange, script);
    case 'ping':
      return exchange.json({});
    case 'tools/list':
      return list(exchange, script);
    case 'tools/call':
      return call(exchange, script);
    case 'DELETE':
      if (exchange.sessionId !== undefined) sessions.end(exchange.sessionId);
      return exchange.raw(200);
    case 'batch':
    case 'invalid':
      return refuse(exchange, 400, 'Not one JSON-RPC message');
    default:
      return other(exchange);
  }
}

function handlerFor(script: RawHttpScript, key: string): HttpHandler | undefined {
  return script.on && Object.hasOwn(script.on, key) ? script.on[key] : undefined;
}

function admits(sessions: SessionBook, exchange: HttpExchange): boolean {
  if (exchange.method === 'initialize') return true;
  if (exchange.sessionId === undefined) {
    if (sessions.everOpened) refuse(exchange, 400, 'Mcp-Session-Id header is required');
    return !sessions.everOpened;
  }
  const known = sessions.has(exchange.sessionId);
  if (!known) refuse(exchange, 404, 'Session not found');
  return known;
}

function initialize(exchange: HttpExchange, script: RawHttpScript): void {
  if (script.sessions !== false) exchange.openSession();
  exchange.json({
    protocolVersion: exchange.params.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'raw-http', version: '1.0.0' },
    ...script.initialize,
  });
}

async function list(exchange: HttpExchange, { tools = [] }: RawHttpScript): Promise<void> {
  const page: unknown = typeof tools === 'function' ? await tools(exchange.params, exchange) : tools;
  if (page !== undefined) exchange.json(Array.isArray(page) ? { tools: page } : page);
}

async function call(exchange: HttpExchange, script: RawHttpScript): Promise<void> {
  const params = exchange.params as CallParams;
  const result: unknown = script.call
    ? await script.call(params, exchange)
    : text(JSON.stringify(params.arguments ?? {}));
  if (result !== undefined) exchange.json(result);
}

function other(exchange: HttpExchange): void {
  if (exchange.httpMethod !== 'POST') exchange.raw(405, { allow: 'POST, DELETE' });
  else if (exchange.isNotification || exchange.method === 'response') exchange.accept();
  else exchange.error(-32601, `Method not found: ${exchange.method}`);
}

function refuse(exchange: HttpExchange, status: number, message: string): void {
  const body = { jsonrpc: '2.0', id: null, error: { code: status === 404 ? -32001 : -32000, message } };
  exchange.raw(status, { 'content-type': 'application/json' }, JSON.stringify(body));
}
