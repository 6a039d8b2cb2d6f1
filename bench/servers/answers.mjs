import { callResult, catalogPages } from './catalog.mjs';

const SERVER_INFO = { name: 'bench', version: '1.0.0' };

/**
 * The answers of a server with one catalog: a function from a JSON-RPC message to the reply's JSON, undefined for what is
 * no request. The pages are written once, so that as little as possible of what is measured is the server's own work.
 */
export function answers(catalog) {
  const pages = catalogPages(catalog);
  const resultOf = ({ method, params = {} }) => {
    if (method === 'tools/list') return pages[Number(params.cursor ?? 0)];
    if (method === 'tools/call') return JSON.stringify(callResult(params, catalog.schemas));
    if (method === 'ping') return '{}';
    if (method !== 'initialize') return undefined;
    const { protocolVersion } = params;
    return JSON.stringify({ protocolVersion, capabilities: { tools: {} }, serverInfo: SERVER_INFO });
  };
  return (message) => {
    if (message.method === undefined || message.id === undefined) return undefined;
    const id = JSON.stringify(message.id);
    const result = resultOf(message);
    return result === undefined
      ? `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"Method not found"}}`
      : `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
  };
}
