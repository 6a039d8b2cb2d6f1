/**
 * The servers that tests start: scripted ones, which can say anything at any moment, and the reference servers.
 *
 *     closeServersAfterEach();
 *     const server = await startRawHttp({ tools: [tool('search')], call: ({ name }) => text(`called ${name}`) });
 *     const rude = await startRawHttp({ on: { 'tools/list': (exchange) => exchange.sse().write('data: {').destroy() } });
 *     const child = await rawStdio({ call: (_params, exchange) => exchange.exit(3) });
 *     const reference = await startEverything();
 *
 * A client reaches each by its `connection`. All of them are closed after the test, also when it fails.
 */
export { OAuthServer, type OAuthServerOptions, type Redirected, type ServerMetadataPlace } from './oauth-server';
export type { ClientAuthMethod, OAuthClient } from './oauth-clients';
export { ProtectedMcp, startProtectedMcp, type ProtectedMcpOptions, type ResourceMetadataPlace } from './protected-mcp';
export { everythingStdio, filesystemStdio, memoryStdio, startEverything, type EverythingServer } from './everything';
export type { HttpExchange, ResponseEnd } from './http-exchange';
export type { HttpHandler, RawHttpScript } from './polite-http';
export { childrenOf, isAlive, waitForNoChildren, type LiveProcess } from './processes';
export { startRawHttp, type RawHttpOptions, type RawHttpServer } from './raw-http';
export { rawStdio, type RawStdioServer, type StdioCommand, type StdioRecord } from './raw-stdio';
export type { EventFields, ResponseStream } from './response-stream';
export { text, tool, type CallParams, type JsonObject, type RpcId } from './rpc';
export { closeServersAfterAll, closeServersAfterEach, servers, type StartedServer } from './server-registry';
export { taken } from './taken';
export type { RawStdioScript, StdioExchange, StdioHandler } from './stdio-script';
