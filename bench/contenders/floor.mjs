import { fromRoot } from '../library.mjs';
import { closeOfficial, textOf, unconnected } from './official.mjs';

const { z } = fromRoot('zod');

const anything = z.looseObject({});

/** The official client used directly, with schemas that let everything pass: the least that a run can cost with it. */
export async function open(target) {
  const parts = await unconnected(target);
  const { client, transport } = parts;
  await client.connect(transport);
  const tools = [];
  let cursor;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const page = await client.request({ method: 'tools/list', params }, anything);
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return {
    tools,
    toolCount: tools.length,
    call: async (name, input) =>
      textOf(await client.request({ method: 'tools/call', params: { name, arguments: input } }, anything)),
    close: () => closeOfficial(parts),
  };
}
