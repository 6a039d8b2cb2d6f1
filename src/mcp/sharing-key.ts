import { ConfigurationError } from '../errors';
import { untilAborted } from '../run/abort';
import { endOf } from '../run/run';
import type { ToolBinding } from '../tool/tool-binding';
import { callback } from './request-failure';

/**
 * What the `key` of an option says of a run.
 * @throws ConfigurationError when it is no string, or empty; and what the function throws
 */
export async function sharingKey(
  key: (binding: ToolBinding) => unknown,
  binding: ToolBinding,
  { toolset, option }: { readonly toolset: string; readonly option: string },
): Promise<string> {
  const value = await untilAborted(
    callback(() => key(binding)),
    endOf(binding.run),
  );
  if (typeof value === 'string' && value !== '') return value;
  throw new ConfigurationError(
    `Toolset ${toolset}: the "key" of option "${option}" returned ${JSON.stringify(value)}; expected a string that is not ` +
      'empty, for those who share.',
    { toolset },
  );
}
