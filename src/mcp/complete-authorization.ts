import { ConfigurationError, messageOf, ProviderError } from '../errors';
import { untilAborted } from '../run/abort';
import { endOf } from '../run/run';
import { settingsOf } from '../settings';
import type { ToolBinding } from '../tool/tool-binding';
import { toolsetDefinition, type ToolsetClass } from '../toolset/definition';
import { ClientFactory } from './client-factory';
import { asOfficial, hooksOf, type AnyTransport } from './official-client';
import { Patience } from './patience';
import { CallbackFailure } from './request-failure';
import { checkedUnconnected, discard } from './unconnected';

const EXCERPT_LENGTH = 200;

/**
 * Finishes an authorization that an `AuthorizationRequiredError` asked for (MCP specification, Authorization): exchanges
 * the code for tokens, which the toolset's `authProvider` saves. The next discovery uses them.
 * @param code the authorization code that came back to the redirect URL
 * @throws ConfigurationError when the toolset has no `authProvider`, ProviderError when the code is not accepted or the
 * connection's `timeout` passes, what the application's own methods threw, and why the run ended
 */
export async function completeAuthorization(toolset: ToolsetClass, binding: ToolBinding, code: string): Promise<void> {
  const { name, timeout } = toolsetDefinition(toolset);
  binding.run?.check();
  const created = await binding.container.resolve(ClientFactory).create(toolset, binding);
  const parts = await checkedUnconnected(created, name, 'ClientFactory');
  const time = parts.timeout ?? timeout ?? settingsOf(binding.container).timeout;
  const wait = new Patience([endOf(binding.run)], time, () => notCompleted(name, `no answer within ${time} ms`));
  try {
    await untilAborted(finish(asOfficial(parts).transport, name, code), wait);
  } finally {
    wait.release();
    await discard(parts);
  }
}

async function finish(transport: AnyTransport, toolset: string, code: string): Promise<void> {
  const hooks = hooksOf(transport);
  if (transport.finishAuth === undefined || hooks.hasAuthorization === false) {
    throw new ConfigurationError(
      `Toolset ${toolset}: its connection has no authorization to complete; give "connection" an authProvider.`,
      { toolset },
    );
  }
  try {
    await transport.finishAuth(code);
  } catch (error) {
    if (error instanceof CallbackFailure) throw error.thrown;
    const said = hooks.redact?.(messageOf(error)) ?? 'the authorization server refused';
    throw notCompleted(toolset, said.replace(/\s+/g, ' ').replaceAll(code, '[redacted]').slice(0, EXCERPT_LENGTH));
  }
}

function notCompleted(toolset: string, reason: string): ProviderError {
  return new ProviderError(
    `Toolset ${toolset}: the authorization could not be completed: ${reason}. Let the user authorize again.`,
    { toolset },
  );
}
