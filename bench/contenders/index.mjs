/** The contenders by name; each module has `open(target)`. One is loaded alone, in a process of its own. */
const MODULES = {
  floor: './floor.mjs',
  'mcp-toolset': './mcp-toolset.mjs',
  'official client': './official-client.mjs',
  langchain: './langchain.mjs',
  'openai-agents': './openai-agents.mjs',
  'ai-sdk': './ai-sdk.mjs',
};

export const FLOOR = 'floor';
export const LIBRARY = 'mcp-toolset';
export const ALL = Object.keys(MODULES);

/** Loads a contender. */
export function load(name) {
  return import(MODULES[name]);
}
