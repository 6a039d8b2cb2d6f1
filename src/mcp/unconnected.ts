import { ConfigurationError } from '../errors';
import { milliseconds } from '../options';
import type { UnconnectedClient } from '../toolset/client-source';
import { boundedWait } from './bounded-wait';
import { isConnected, isOfficialClient, isTransport } from './official-client';

/** Milliseconds that a part of what is thrown away has to close. */
const DISCARD_BOUND = 2_000;

/** Clients and transports that a factory has returned: most cannot tell themselves that they serve somebody already. */
const used = new WeakSet<object>();

/**
 * Checks what a client factory returned.
 * @throws ConfigurationError when it is not an official client and a transport, both unused; it is closed then
 */
export async function checkedUnconnected(
  returned: unknown,
  toolset: string,
  source: string,
): Promise<UnconnectedClient> {
  const fault = faultOf(returned);
  if (fault === undefined) {
    const parts = returned as UnconnectedClient;
    used.add(parts.client);
    used.add(parts.transport);
    return parts;
  }
  await discard(returned);
  throw new ConfigurationError(
    `Toolset ${toolset}, ${source}: ${fault}; return { client, transport } with a new, unconnected Client of ` +
      '@modelcontextprotocol/sdk and a new transport.',
    { toolset },
  );
}

/** Closes whatever a client factory returned, in bounded time; failures to do so do not matter. */
export async function discard(returned: unknown): Promise<void> {
  const { client, transport } = Object(returned) as { client?: unknown; transport?: unknown };
  const parts: readonly unknown[] = Array.isArray(returned) ? returned : [client, transport, returned];
  await Promise.all(parts.map(closePart));
}

async function closePart(part: unknown): Promise<void> {
  const { close } = Object(part) as { close?: () => unknown };
  if (typeof close !== 'function') return;
  try {
    await boundedWait(DISCARD_BOUND, close.call(part));
  } catch {
    // What is thrown away may be broken; the error that is being reported matters more.
  }
}

function faultOf(returned: unknown): string | undefined {
  if (typeof returned !== 'object' || returned === null) return `it returned ${String(returned)}`;
  const { client, transport, timeout } = returned as { client?: unknown; transport?: unknown; timeout?: unknown };
  if (!isOfficialClient(client)) return 'it returned no official client';
  if (!isTransport(transport)) return 'it returned no transport';
  if (isConnected(client)) return 'it returned a client that is connected already';
  if (used.has(client)) return 'it returned a client that was used before';
  if (used.has(transport)) return 'it returned a transport that was used before';
  const time = milliseconds.optional().safeParse(timeout);
  return time.success ? undefined : `it returned a wrong "timeout": ${time.error.issues[0]?.message}`;
}
