import { settingsOf } from '../settings';
import type { ToolBinding } from '../tool/tool-binding';
import type { ToolsetDefinition } from '../toolset/definition';
import { sharingKey } from './sharing-key';
import { sharingScope } from './sharing-scope';
import type { WarmSource } from './warm-sessions';

/**
 * Where the sessions of a run come from, where the toolset has sessions that outlive runs.
 * @throws ConfigurationError when the application's key is none, and what its function throws
 */
export async function warmSource(definition: ToolsetDefinition, binding: ToolBinding): Promise<WarmSource | undefined> {
  const { session, name } = definition;
  const { container, run } = binding;
  if (!session || !run) return undefined;
  const key = await sharingKey(session.key, binding, { toolset: name, option: 'session' });
  return sharingScope(container, name).sessions.source(definition, key, settingsOf(container).logger);
}
