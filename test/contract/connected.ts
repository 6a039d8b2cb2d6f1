import { container } from 'tsyringe';
import {
  McpToolset,
  McpToolsetError,
  RunFactory,
  ToolRegistry,
  type ConnectionOptions,
  type HttpConnectionOptions,
  type ToolsetOptions,
  type Run,
  type ToolExecution,
} from 'mcp-toolset';
import { startRawHttp, tool, type HttpExchange, type RawHttpServer } from '../servers';

/** A run in which the tools of one connection are registered; `await using` closes it. */
export class Connected implements AsyncDisposable {
  constructor(
    readonly run: Run,
    readonly tools: ToolRegistry,
  ) {}

  /** Calls the first tool, or the one of this name. */
  call(input: object = {}, { name = this.tools.names[0] ?? '', signal }: CallOptions = {}): Promise<ToolExecution> {
    return this.tools.execute({ name, input }, signal ? { signal } : {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.run.close();
  }
}

interface CallOptions {
  name?: string;
  signal?: AbortSignal;
}

/** Declares a toolset over a connection, starts a run and registers it there; a run that this fails for is closed. */
export async function connected(
  connection: NonNullable<ToolsetOptions['connection']>,
  options: Omit<ToolsetOptions, 'connection'> = {},
): Promise<Connected> {
  @McpToolset({ name: 'Tested', ...options, connection })
  class Tested {}
  const run = container.resolve(RunFactory).start();
  const tools = run.resolve(ToolRegistry);
  try {
    await tools.register(Tested);
  } catch (error) {
    await run.close();
    throw error;
  }
  return new Connected(run, tools);
}

/** Connects, makes one call and closes. */
export async function callOnce(connection: ConnectionOptions, input: object = {}): Promise<ToolExecution> {
  await using session = await connected(connection);
  return await session.call(input);
}

/** The library's own error of a call that failed. */
export function failureOf({ status, error }: ToolExecution): McpToolsetError {
  if (status !== 'error' || !McpToolsetError.is(error)) throw new Error(`No failure of the library: ${String(error)}`);
  return error;
}

/** A server that answers the calls of its one tool by `answer`. */
export function serverThat(answer: (exchange: HttpExchange) => unknown): Promise<RawHttpServer> {
  return startRawHttp({ tools: [tool('a')], on: { 'tools/call': answer } });
}

/** What a promise is rejected with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => Promise.reject(new Error('It was expected to be rejected.')),
    (error: unknown) => error,
  );
}

/** A fetch that hands every body on in pieces of `size` bytes. */
export function inPieces(size: number): HttpConnectionOptions['fetch'] {
  return async (url, init) => {
    const { status, headers, body } = await fetch(url, init);
    return new Response(body && ReadableStream.from(pieces(body, size)), { status, headers });
  };
}

async function* pieces(body: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; at += size) yield chunk.subarray(at, at + size);
  }
}
