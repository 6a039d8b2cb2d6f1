import OpenAI from 'openai';
import { McpToolset, Tool, type ToolRegistry } from 'mcp-toolset';
import { openaiToolOutputs, openaiTools, type OpenAIToolOptions } from 'mcp-toolset/openai';
import { startEverything } from '../servers';
import { adapterRun, closeAfterEach } from './adapter-run';
import { awkwardResults, awkwardResultServer, awkwardResultTools, resultTool } from './awkward-results';
import { asSeen, awkwardSchemas, awkwardServer, toolOf } from './awkward-schemas';
import { openaiFaults } from './openai-rules';
import { takes } from './schema-rules';
import { ScriptedApi } from './scripted-api';

closeAfterEach();

type Output = OpenAI.Responses.ResponseInputItem.FunctionCallOutput;

const response = (...output: object[]): object => ({ id: 'resp_1', object: 'response', status: 'completed', output });
const call = (call_id: string, name: string, args: unknown): object => {
  const written = typeof args === 'string' ? args : JSON.stringify(args);
  return { type: 'function_call', id: `fc_${call_id}`, call_id, name, arguments: written, status: 'completed' };
};
const done = response({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
});

async function api(...turns: object[]): Promise<{ endpoint: ScriptedApi; client: OpenAI }> {
  const endpoint = await new ScriptedApi({ faults: openaiFaults, turns }).start();
  return { endpoint, client: new OpenAI({ apiKey: 'test', baseURL: endpoint.url, maxRetries: 0 }) };
}

/** An agent's loop, as the guide shows it. */
async function answer(client: OpenAI, tools: ToolRegistry, options?: OpenAIToolOptions): Promise<string> {
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Go.' }];
  for (;;) {
    const answered = await client.responses.create({ model: 'm', tools: openaiTools(tools, options), input });
    const outputs = await openaiToolOutputs(tools, answered);
    if (outputs.length === 0) return answered.output_text;
    input.push(...(answered.output as OpenAI.Responses.ResponseInputItem[]), ...outputs);
  }
}

function lastOutputs({ last }: ScriptedApi): Output[] {
  return (last.input as Output[]).filter(({ type }) => type === 'function_call_output');
}

const textOf = ({ output }: Output): string =>
  typeof output === 'string'
    ? output
    : output.flatMap((part) => (part.type === 'input_text' ? [part.text] : [])).join('\n');
const mediaOf = ({ output }: Output): string[] =>
  (typeof output === 'string' ? [] : output).flatMap((part) => {
    const url = part.type === 'input_image' ? part.image_url : part.type === 'input_file' ? part.file_data : undefined;
    return /^data:([^;]+);/.exec(url ?? '')?.[1] ?? [];
  });

describe('openaiTools', () => {
  it.each([undefined, 'where-fit'] as const)(
    'R14: presents every awkward schema in a form that the API takes (strict: %s)',
    async (strict) => {
      const { tools } = await adapterRun({ server: awkwardServer() });
      const before = JSON.stringify(tools.specifications);
      const { endpoint, client } = await api(done);
      await answer(client, tools, { strict });
      const sent = endpoint.last.tools as OpenAI.Responses.FunctionTool[];
      expect(sent.length).toBe(awkwardSchemas.length);
      const fits = sent.filter((tool) => tool.strict).map(({ description }) => description);
      expect(fits).toEqual(strict ? ['A tool: one closed object, all required.'] : []);
      expect(JSON.stringify(tools.specifications)).toBe(before);
    },
  );

  it.each(awkwardSchemas)('takes what the tool takes: $title', async (awkward) => {
    const server = awkwardServer();
    const { tools } = await adapterRun({ server });
    const name = toolOf(awkward);
    const parameters = openaiTools(tools).find((tool) => tool.name === name)?.parameters ?? {};
    const input = asSeen(parameters, awkward.input);
    expect(takes(parameters, input)).toBe(true);
    const { endpoint, client } = await api(response(call('call_1', name, input)), done);
    await answer(client, tools);
    expect(lastOutputs(endpoint).map(textOf)).toEqual(['done']);
    expect(server.calls).toEqual([{ name, arguments: awkward.input }]);
  });

  it('cuts a description that is longer than some models take, and keeps what it says of the schema', async () => {
    const inputSchema = { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] };
    const Long = Tool.define({ name: 'long', description: 'x'.repeat(3_000), inputSchema, call: () => '' });
    const { tools } = await adapterRun({ entries: Long });
    const [cut] = openaiTools(tools);
    expect(cut?.description).toHaveLength(1_024);
    expect(cut?.description).toMatch(/x…\nThe input must match at least one of .*"required":\["b"\]/);
    expect(openaiTools(tools, { maxDescriptionLength: 5_000 })[0]?.description).toContain('x'.repeat(3_000));
  });

  const closed = { additionalProperties: false };
  const text = { type: 'string' };
  const object = (properties: object) => {
    return { type: 'object', properties, required: Object.keys(properties), ...closed };
  };

  it.each<[string, object, boolean]>([
    ['no parameters', object({}), true],
    ['nested objects', object({ a: object({ b: text }) }), true],
    ['a list that may be null', object({ a: { type: ['array', 'null'], items: text, minItems: 1 } }), true],
    ['alternatives below the root', object({ a: { anyOf: [text, object({})] } }), true],
    [
      'recursion',
      { ...object({ a: { $ref: '#/$defs/A' } }), $defs: { A: object({ a: { $ref: '#/$defs/A' } }) } },
      true,
    ],
    [
      'a known format and a bound',
      object({ a: { type: 'string', format: 'date' }, b: { type: 'number', minimum: 0 } }),
      true,
    ],
    ['an optional property', { ...object({ a: text, b: text }), required: ['a'] }, false],
    ['a requirement of what is no property', { ...object({ a: text }), required: ['a', 'b'] }, false],
    ['an open object', { type: 'object', properties: { a: text }, required: ['a'] }, false],
    ['an open object inside', object({ a: { type: 'object', properties: {} } }), false],
    ['an unsupported keyword', object({ a: { type: 'string', minLength: 1 } }), false],
    ['a default', object({ a: { type: 'string', default: 'x' } }), false],
    ['an unknown format', object({ a: { type: 'string', format: 'uri' } }), false],
    ['no type', object({ a: {} }), false],
    ['a list of anything', object({ a: { type: 'array' } }), false],
    [
      'a description beside a reference',
      { ...object({ a: { $ref: '#/$defs/A', description: 'x' } }), $defs: { A: text } },
      false,
    ],
    ['alternatives at the root, which are merged', { ...object({ a: text }), anyOf: [{ required: ['a'] }] }, true],
    ['too many values', object({ a: { enum: Array.from({ length: 1_001 }, (_, index) => index) } }), false],
    ['too many levels', [...Array(11)].reduce<object>((inner) => object({ a: inner }), text), false],
  ])('says strict only where the schema proves fit: %s', async (_, inputSchema, strict) => {
    const call = () => '';
    const Shaped = Tool.define({ name: 'shaped', description: 'x', inputSchema: { ...inputSchema }, call });
    const { tools } = await adapterRun({ entries: Shaped });
    expect(openaiTools(tools, { strict: 'where-fit' }).map((tool) => tool.strict)).toEqual([strict]);
  });
});

describe('openaiToolOutputs', () => {
  it.each(awkwardResults)('presents $title', async (result) => {
    const { tools } = await adapterRun({ server: awkwardResultServer(), entries: awkwardResultTools() });
    const { endpoint, client } = await api(response(call('call_1', resultTool(result), {})), done);
    await answer(client, tools);
    const [output] = lastOutputs(endpoint);
    if (!output) throw new Error('no output');
    const text = textOf(output);
    expect(text.startsWith('Error: ')).toBe(result.isError ?? false);
    expect(text.replace(/^Error: /, '')).toMatch(result.text ?? /(?:)/);
    // Only Anthropic refuses an image beside a failure.
    expect(mediaOf(output)).toEqual(result.title === 'a failure with an image' ? ['image/png'] : (result.media ?? []));
  });

  it('goes through a whole conversation with a real server', async () => {
    const server = await startEverything();
    @McpToolset({ connection: server.connection })
    class EverythingTools {}
    const { tools } = await adapterRun({ entries: EverythingTools });
    const { endpoint, client } = await api(
      response(
        { type: 'reasoning', id: 'rs_1', summary: [] },
        call('call_1', 'echo', { message: 'hello' }),
        call('call_2', 'get-tiny-image', ''),
        call('call_3', 'get-sum', '{"a":2,"b":'),
        call('call_4', 'get-sum', '[2, 3]'),
        call('call_5', 'missing', '{'),
      ),
      response(call('call_6', 'get-sum', { a: 2, b: 3 })),
      done,
    );
    expect(await answer(client, tools)).toBe('Done.');
    const outputs = lastOutputs(endpoint);
    expect(outputs.map(({ call_id }) => call_id)).toEqual([1, 2, 3, 4, 5, 6].map((number) => `call_${number}`));
    expect(outputs.map(textOf)).toEqual([
      'Echo: hello',
      expect.stringContaining('image'),
      expect.stringMatching(/^Error: Invalid tool input: expected a JSON object, got something that is not JSON/),
      'Error: Invalid tool input: expected an object, got an array.',
      'Error: Unknown tool: missing',
      'The sum of 2 and 3 is 5.',
    ]);
    expect(outputs.map(mediaOf)).toEqual([[], ['image/png'], [], [], [], []]);
  });

  it('does not carry out a call that the model could not finish', async () => {
    const server = awkwardResultServer();
    const { tools } = await adapterRun({ server });
    const cut = { ...call('call_1', 'result_0', '{}'), type: 'function_call', status: 'incomplete' };
    expect(await openaiToolOutputs(tools, { output: [cut] })).toMatchObject([
      { output: expect.stringContaining('cut off') },
    ]);
    expect(server.calls).toEqual([]);
  });

  it('takes the last item of an incomplete response for cut off where it says nothing of itself', async () => {
    const seen: unknown[] = [];
    const entries = Tool.define({
      name: 'note',
      description: 'x',
      inputSchema: { type: 'object' },
      call: () => void seen.push(1),
    });
    const { tools } = await adapterRun({ entries });
    const item = (call_id: string, status?: string) => ({
      type: 'function_call',
      call_id,
      name: 'note',
      arguments: '',
      status,
    });
    const cutOff = async (...output: { type: string }[]): Promise<boolean[]> => {
      const outputs = await openaiToolOutputs(tools, { status: 'incomplete', output });
      return outputs.map(({ output: text }) => JSON.stringify(text).includes('cut off'));
    };
    expect(await cutOff(item('1'), item('2'))).toEqual([false, true]);
    expect(await cutOff(item('1'), item('2', 'completed'))).toEqual([false, false]);
    expect(await cutOff(item('1'), { type: 'message' })).toEqual([false]);
    expect(seen).toHaveLength(4);
  });

  it.each<[unknown, string]>([
    ['', '{}'],
    [' ', '{}'],
    [undefined, '{}'],
    [null, '{}'],
    ['null', '{}'],
    ['{}', '{}'],
    ['{"__proto__":{"a":1}}', '{"__proto__":{"a":1}}'],
    [{ a: 1 }, '{"a":1}'],
    ['"text"', 'Error: Invalid tool input: expected an object, got a string.'],
    ['12', 'Error: Invalid tool input: expected an object, got a number.'],
    ['{a: 1}', expect.stringContaining('Error: Invalid tool input: expected a JSON object') as string],
    [7, 'Error: Invalid tool input: expected an object, got a number.'],
  ])('R19: reads the arguments %j', async (args, expected) => {
    const seen = (input: object): string => JSON.stringify(input);
    const Echo = Tool.define({ name: 'echo', description: 'x', inputSchema: { type: 'object' }, call: seen });
    const { tools } = await adapterRun({ entries: Echo });
    const item = { type: 'function_call', call_id: 'call_1', name: 'echo', arguments: args };
    expect(await openaiToolOutputs(tools, { output: [item] })).toMatchObject([{ output: expected }]);
  });
});
