import type { ToolRegistry } from 'mcp-toolset';
import { startRawHttp, text, tool, type HttpExchange, type RawHttpServer } from '../servers';

/** A server whose tool `wait` never answers by itself, while `quick` always does. */
export function waitingServer(): Promise<RawHttpServer> {
  return startRawHttp({
    tools: [tool('wait'), tool('quick')],
    call: ({ name }) => (name === 'quick' ? text('quick') : undefined),
  });
}

/** Whether a request is the call `wait`. */
export const isWait = ({ method, params }: HttpExchange): boolean => method === 'tools/call' && params.name === 'wait';

/** The call `wait`, once the server has it. */
export async function waiting(
  server: RawHttpServer,
  registry: ToolRegistry,
  options: { signal?: AbortSignal } = {},
): Promise<{ call: ReturnType<ToolRegistry['execute']>; request: HttpExchange }> {
  const count = server.requests.filter(isWait).length + 1;
  const call = registry.execute({ name: 'wait' }, options);
  call.catch(() => undefined);
  return { call, request: await server.waitFor(isWait, count) };
}
