import { closeOfficial, textOf, unconnected } from './official.mjs';

/** The official client by its own methods, `listTools` and `callTool`. */
export async function open(target) {
  const parts = await unconnected(target);
  const { client, transport } = parts;
  await client.connect(transport);
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return {
    tools,
    toolCount: tools.length,
    call: async (name, input) => textOf(await client.callTool({ name, arguments: input })),
    close: () => closeOfficial(parts),
  };
}
