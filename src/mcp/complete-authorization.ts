import { ConfigurationError, messageOf, ProviderError } from '../errors';
import { untilAborted } from '../run/abort';
import type { ToolBinding } from '../tool/tool-binding';
import { toolsetDefinition, type ToolsetClass } from '../toolset/definition';
import { ClientFactory } from './client-factory';
import { asOfficial, hooksOf } from './official-client';
import { checkedUnconnected, discard } from './unconnected';

/**
 * Finishes an authorization that an `AuthorizationRequiredError` asked for (MCP specification, Authorization): exchanges
 * the code for tokens, which the toolset's `authProvider` saves. The next discovery uses them.
 * @param code the authorization code that came back to the redirect URL
 * @throws ConfigurationError when the toolset has no `authProvider`, ProviderError when the code is not accepted, and why
 * the run ended
 */
export async function completeAuthorization(toolset: ToolsetClass, binding: ToolBinding, code: string): Promise<void> {
  const { name } = toolsetDefinition(toolset);
  binding.run?.check();
  const created = await binding.container.resolve(ClientFactory).create(toolset, binding);
  const parts = await checkedUnconnected(created, name, 'ClientFactory');
  const { transport } = asOfficial(parts);
  try {
    if (transport.finishAuth === undefined || hooksOf(transport).hasAuthorization === false) {
      throw new ConfigurationError(
        `Toolset ${name}: its connection has no authorization to complete; give "connection" an authProvider.`,
        { toolset: name },
      );
    }
    await untilAborted(transport.finishAuth(code), binding.run?.signal);
  } catch (error) {
    if (ConfigurationError.is(error) || binding.run?.signal.aborted) throw error;
    const said = hooksOf(transport).redact?.(messageOf(error)) ?? 'the authorization server refused';
    const reason = said.replace(/\s+/g, ' ');
    throw new ProviderError(
      `Toolset ${name}: the authorization could not be completed: ${reason.replaceAll(code, '[redacted]').slice(0, 200)}. ` +
        'Let the user authorize again.',
      { toolset: name },
    );
  } finally {
    await discard(parts);
  }
}
