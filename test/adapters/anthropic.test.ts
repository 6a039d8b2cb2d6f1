import Anthropic from '@anthropic-ai/sdk';
import { McpToolset, Tool } from 'mcp-toolset';
import { anthropicToolResults, anthropicTools } from 'mcp-toolset/anthropic';
import { startEverything } from '../servers';
import { adapterRun, closeAfterEach } from './adapter-run';
import { anthropicFaults } from './anthropic-rules';
import { awkwardResults, awkwardResultServer, awkwardResultTools, resultTool } from './awkward-results';
import { asSeen, awkwardSchemas, awkwardServer, toolOf } from './awkward-schemas';
import { takes } from './schema-rules';
import { ScriptedApi } from './scripted-api';

closeAfterEach();

type Use = { id: string; name: string; input: unknown };

function turn(content: unknown[], stop_reason = 'tool_use'): object {
  const usage = { input_tokens: 1, output_tokens: 1 };
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'test',
    content,
    stop_reason,
    stop_sequence: null,
    usage,
  };
}

const uses = (...calls: Use[]): object =>
  turn(calls.map((call) => ({ type: 'tool_use', caller: { type: 'direct' }, ...call })));
const done = turn([{ type: 'text', text: 'Done.' }], 'end_turn');

async function api(...turns: object[]): Promise<{ endpoint: ScriptedApi; client: Anthropic }> {
  const endpoint = await new ScriptedApi({ faults: anthropicFaults, turns }).start();
  return { endpoint, client: new Anthropic({ apiKey: 'test', baseURL: endpoint.url, maxRetries: 0 }) };
}

/** An agent's loop, as the guide shows it. */
async function answer(client: Anthropic, tools: Parameters<typeof anthropicTools>[0]): Promise<Anthropic.Message> {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Go.' }];
  for (;;) {
    const message = await client.messages.create({
      model: 'm',
      max_tokens: 100,
      tools: anthropicTools(tools),
      messages,
    });
    const results = await anthropicToolResults(tools, message);
    if (results.length === 0) return message;
    messages.push({ role: 'assistant', content: message.content }, { role: 'user', content: results });
  }
}

/** The tool_result blocks of the last request. */
function lastResults({ last }: ScriptedApi): Anthropic.ToolResultBlockParam[] {
  const messages = last.messages as Anthropic.MessageParam[];
  return messages.at(-1)?.content as Anthropic.ToolResultBlockParam[];
}

type Block = Anthropic.TextBlockParam | Anthropic.ImageBlockParam | Anthropic.DocumentBlockParam;

const blocksOf = ({ content }: Anthropic.ToolResultBlockParam): Block[] => content as Block[];
const textOf = (result: Anthropic.ToolResultBlockParam): string =>
  blocksOf(result)
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n');
const mediaOf = (result: Anthropic.ToolResultBlockParam): string[] =>
  blocksOf(result).flatMap((block) => {
    return block.type !== 'text' && block.source.type === 'base64' ? [block.source.media_type] : [];
  });

describe('anthropicTools', () => {
  it('R14: presents every awkward schema in a form that the API takes, and leaves the registry its own', async () => {
    const { tools } = await adapterRun({ server: awkwardServer() });
    const before = JSON.stringify(tools.specifications);
    const { endpoint, client } = await api(done);
    await answer(client, tools);
    expect((endpoint.last.tools as unknown[]).length).toBe(awkwardSchemas.length);
    expect(JSON.stringify(tools.specifications)).toBe(before);
    expect(tools.specifications.map(({ inputSchema }) => inputSchema)).toEqual(
      awkwardSchemas.map(({ schema }) => schema),
    );
  });

  it.each(awkwardSchemas)('takes what the tool takes, under its own names: $title', async (awkward) => {
    const server = awkwardServer();
    const { tools } = await adapterRun({ server });
    const name = toolOf(awkward);
    const tool = anthropicTools(tools).find((candidate) => candidate.name === name);
    const input = asSeen(tool?.input_schema ?? {}, awkward.input);
    expect(takes(tool?.input_schema, input)).toBe(true);
    const { endpoint, client } = await api(uses({ id: 'toolu_1', name, input }), done);
    await answer(client, tools);
    expect(lastResults(endpoint).map(textOf)).toEqual(['done']);
    expect(server.calls).toEqual([{ name, arguments: awkward.input }]);
  });
});

describe('anthropicToolResults', () => {
  it.each(awkwardResults)('presents $title', async (result) => {
    const { tools } = await adapterRun({ server: awkwardResultServer(), entries: awkwardResultTools() });
    const { endpoint, client } = await api(uses({ id: 'toolu_1', name: resultTool(result), input: {} }), done);
    await answer(client, tools);
    const [block] = lastResults(endpoint);
    if (!block) throw new Error('no result');
    expect(block.is_error ?? false).toBe(result.isError ?? false);
    expect(textOf(block)).toMatch(result.text ?? /(?:)/);
    expect(mediaOf(block)).toEqual(result.media ?? []);
  });

  it('goes through a whole conversation with a real server: parallel calls in order, an image, a failure', async () => {
    const server = await startEverything();
    @McpToolset({ connection: server.connection })
    class EverythingTools {}
    const { tools } = await adapterRun({ entries: EverythingTools });
    const { endpoint, client } = await api(
      uses(
        { id: 'toolu_1', name: 'echo', input: { message: 'hello' } },
        { id: 'toolu_2', name: 'get-tiny-image', input: {} },
        { id: 'toolu_3', name: 'get-sum', input: { a: 2, b: 3 } },
        { id: 'toolu_4', name: 'nothing-like-it', input: {} },
      ),
      uses({ id: 'toolu_5', name: 'get-sum', input: { a: 'two' } }),
      done,
    );
    expect(await answer(client, tools)).toMatchObject({ content: [{ text: 'Done.' }] });
    const [, second, third] = endpoint.requests.map(({ body }) => body.messages as Anthropic.MessageParam[]);
    const results = second?.at(-1)?.content as Anthropic.ToolResultBlockParam[];
    expect(results.map(({ tool_use_id, is_error }) => [tool_use_id, is_error ?? false])).toEqual([
      ['toolu_1', false],
      ['toolu_2', false],
      ['toolu_3', false],
      ['toolu_4', true],
    ]);
    expect(results.map(textOf)).toEqual([
      'Echo: hello',
      expect.stringContaining('image'),
      'The sum of 2 and 3 is 5.',
      'Unknown tool: nothing-like-it',
    ]);
    expect(results.map(mediaOf)).toEqual([[], ['image/png'], [], []]);
    expect(third?.at(-1)?.content).toMatchObject([{ tool_use_id: 'toolu_5', is_error: true }]);
  });

  it('presents the schema of a tool once, however many calls there are', async () => {
    let reads = 0;
    const ownKeys = (target: object) => ((reads += 1), Reflect.ownKeys(target));
    const inputSchema = { type: 'object', properties: new Proxy({ 'a b': { type: 'string' } }, { ownKeys }) };
    const call = (input: Record<string, unknown>) => input['a b'];
    const { tools } = await adapterRun({ entries: Tool.define({ name: 'it', description: 'x', inputSchema, call }) });
    const [tool] = anthropicTools(tools);
    const input = asSeen(tool?.input_schema ?? {}, { 'a b': 'c' });
    const content = [{ type: 'tool_use', id: 'toolu_1', name: 'it', input }];
    const answered = async () => {
      const results = await anthropicToolResults(tools, { content });
      return results.map(textOf);
    };
    expect(await answered()).toEqual(['c']);
    reads = 0;
    expect(await answered()).toEqual(['c']);
    expect(reads).toBe(0);
  });

  it('answers no server tools, no members of a toolset of Anthropic, and nothing where nothing is asked', async () => {
    const { tools } = await adapterRun({ server: awkwardResultServer() });
    const content = [
      { type: 'text', text: 'Hm.' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
      { type: 'tool_use', id: 'toolu_1', name: 'navigate', input: {}, toolset_name: 'browser' },
    ];
    expect(await anthropicToolResults(tools, { content })).toEqual([]);
  });

  it.each(['max_tokens', 'model_context_window_exceeded', 'refusal'])(
    'does not carry out a call that the model could not finish: %s',
    async (stop_reason) => {
      const server = awkwardResultServer();
      const { tools } = await adapterRun({ server });
      const content = ['result_0', 'result_0'].map((name, index) => {
        return { type: 'tool_use', id: `toolu_${index}`, name, input: {} };
      });
      const results = await anthropicToolResults(tools, { content, stop_reason });
      expect(results.map((result) => [result.is_error ?? false, textOf(result)])).toEqual([
        [false, 'fine'],
        [true, expect.stringContaining('cut off')],
      ]);
      expect(server.calls).toHaveLength(1);
    },
  );
});
