import { ToolError, traitOf } from '../errors';

const CODES: readonly unknown[] = [-32601, -32602];
const LONGEST = 500;
/** As the specification's example and the official SDK's server say it. */
const SAID = /^(MCP error -3260[12]: )?(unknown tool\b|tool\b.*\bnot found\b|no such tool\b)/i;

/** Whether what came of a call says that the server has no tool of this name (MCP specification, Tools, error handling). */
export function saysUnknownTool(outcome: unknown, name: string): boolean {
  if (ToolError.is(outcome)) {
    return CODES.includes(traitOf(outcome.cause, 'code')) && isSaid(outcome.message, name);
  }
  const { isError, content } = Object(outcome) as { isError?: unknown; content?: unknown };
  if (isError !== true || !Array.isArray(content)) return false;
  const { text } = Object(content[0]) as { text?: unknown };
  return typeof text === 'string' && isSaid(text, name);
}

function isSaid(text: string, name: string): boolean {
  const beginning = text.slice(0, name.length + LONGEST);
  return SAID.test(beginning) && beginning.includes(name);
}
