import type Anthropic from '@anthropic-ai/sdk';
import type { MessagesApi } from './anthropic-loop';

type Request = Anthropic.MessageCreateParamsNonStreaming;

/** A call, and the words of a user that ask for it. */
interface Rule {
  readonly words: RegExp;
  readonly tool: string;
  readonly input: (question: string) => object;
}

const ORDER = /\b[A-Z]+-\d+\b/;

const RULES: readonly Rule[] = [
  { words: /\b(orders|my( \w+)? order|bought|parcels?)\b/i, tool: 'shop_list_orders', input: () => ({}) },
  {
    words: ORDER,
    tool: 'shop_order_details',
    input: (question) => ({ order: ORDER.exec(question)?.[0] }),
  },
  { words: /\b(chart|spend(ing)?|spent|picture)\b/i, tool: 'shop_spending_chart', input: () => ({}) },
  { words: /\b(invoices?|csv|export)\b/i, tool: 'shop_export', input: () => ({}) },
  { words: /\b(count|stock|slow|wait)\b/i, tool: 'shop_count_stock', input: () => ({ seconds: 20 }) },
  { words: /\b(weather|rain|sun)\b/i, tool: 'weather_forecast', input: () => ({}) },
];

const HELP =
  'I am a script and know few words. Ask for your orders, a chart of what you spent, an export, or a stock count.';

/**
 * Stands in for a model where there is no key: it picks calls from the user's words, among the tools that are offered, and
 * says what came of them. What it calls is real.
 */
export class ScriptedModel implements MessagesApi {
  async create({ messages, tools = [] }: Request): Promise<Anthropic.Message> {
    const asked = messages[0]?.content;
    const question = typeof asked === 'string' ? asked : '';
    const offered = new Set(tools.map((tool) => ('name' in tool ? tool.name : '')));
    const results = resultsIn(messages);
    if (results.length === 0) {
      const rules = RULES.filter(({ words, tool }) => words.test(question) && offered.has(tool));
      if (rules.length === 0) return say(HELP);
      return callAll(rules.map(({ tool, input }) => ({ name: tool, input: input(question) })));
    }
    const order = ORDER.exec(results[0] ?? '')?.[0];
    const wantsDetails = /\b(latest|last|details?|where)\b/i.test(question) && !ORDER.test(question);
    if (messages.length === 3 && order !== undefined && wantsDetails && offered.has('shop_order_details')) {
      return callAll([{ name: 'shop_order_details', input: { order } }]);
    }
    const calls = results.length === 1 ? 'one call' : `${results.length} calls`;
    return say(
      `I made ${calls}; what came of ${results.length === 1 ? 'it' : 'them'} is above. (A model would tell you in its own words.)`,
    );
  }
}

/** The texts of all results so far. */
function resultsIn(messages: readonly Anthropic.MessageParam[]): string[] {
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  return blocks.flatMap((block) => (block.type === 'tool_result' ? [JSON.stringify(block.content)] : []));
}

let calls = 0;

function callAll(uses: readonly { readonly name: string; readonly input: object }[]): Anthropic.Message {
  const content = uses.map(({ name, input }) => ({ type: 'tool_use', id: `call_${(calls += 1)}`, name, input }));
  return message(content as Anthropic.ToolUseBlock[], 'tool_use');
}

function say(text: string): Anthropic.Message {
  return message([{ type: 'text', text, citations: null }], 'end_turn');
}

function message(content: Anthropic.ContentBlock[], stop_reason: Anthropic.StopReason): Anthropic.Message {
  return { role: 'assistant', type: 'message', content, stop_reason } as Anthropic.Message;
}
