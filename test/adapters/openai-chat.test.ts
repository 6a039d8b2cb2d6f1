import OpenAI from 'openai';
import type { ToolRegistry } from 'mcp-toolset';
import { openaiChatToolMessages, openaiChatTools, type OpenAIChatOptions } from 'mcp-toolset/openai';
import { adapterRun, closeAfterEach } from './adapter-run';
import { awkwardResults, awkwardResultServer, awkwardResultTools, resultTool } from './awkward-results';
import { awkwardSchemas, awkwardServer } from './awkward-schemas';
import { openaiFaults } from './openai-rules';
import { ScriptedApi } from './scripted-api';

closeAfterEach();

type Message = OpenAI.ChatCompletionMessageParam;

const completion = (message: object): object => {
  return { id: 'c_1', object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', ...message } }] };
};
const calls = (...names: string[]): object => {
  const tool_calls = names.map((name, index) => {
    return { id: `call_${index + 1}`, type: 'function', function: { name, arguments: '' } };
  });
  return completion({ content: null, tool_calls });
};
const choiceOf = (finish_reason: string): object => {
  const { choices } = calls('result_0', 'result_0') as { choices: object[] };
  return { ...choices[0], finish_reason };
};
const done = completion({ content: 'Done.' });

async function api(...turns: object[]): Promise<{ endpoint: ScriptedApi; client: OpenAI }> {
  const endpoint = await new ScriptedApi({ faults: openaiFaults, turns }).start();
  return { endpoint, client: new OpenAI({ apiKey: 'test', baseURL: endpoint.url, maxRetries: 0 }) };
}

async function answer(client: OpenAI, tools: ToolRegistry, options?: OpenAIChatOptions): Promise<string | null> {
  const messages: Message[] = [{ role: 'user', content: 'Go.' }];
  for (;;) {
    const request = { model: 'm', tools: openaiChatTools(tools), messages };
    const message = (await client.chat.completions.create(request)).choices[0]?.message;
    if (!message?.tool_calls) return message?.content ?? null;
    messages.push(message, ...(await openaiChatToolMessages(tools, message, options)));
  }
}

/** What follows the last message of the assistant. */
function answered({ last }: ScriptedApi): Message[] {
  const messages = last.messages as Message[];
  return messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
}

const mediaIn = (messages: readonly Message[]): string[] =>
  messages.flatMap(({ role, content }) => {
    const parts = role === 'user' && Array.isArray(content) ? content : [];
    return parts.flatMap((part) => {
      const url = part.type === 'image_url' ? part.image_url.url : part.type === 'file' ? part.file.file_data : '';
      return /^data:([^;]+);/.exec(url ?? '')?.[1] ?? [];
    });
  });

it('presents every awkward schema in a form that the API takes', async () => {
  const { tools } = await adapterRun({ server: awkwardServer() });
  const { endpoint, client } = await api(done);
  expect(await answer(client, tools)).toBe('Done.');
  expect(endpoint.last.tools).toHaveLength(awkwardSchemas.length);
});

it.each(awkwardResults)('presents $title', async (result) => {
  const { tools } = await adapterRun({ server: awkwardResultServer(), entries: awkwardResultTools() });
  const { endpoint, client } = await api(calls(resultTool(result)), done);
  await answer(client, tools);
  const messages = answered(endpoint);
  const [first] = messages;
  if (typeof first?.content !== 'string') throw new Error('no text');
  expect(first).toMatchObject({ role: 'tool', tool_call_id: 'call_1' });
  expect(first.content.startsWith('Error: ')).toBe(result.isError ?? false);
  if (result.text) expect(first.content.replace(/^Error: /, '')).toMatch(result.text);
  expect(mediaIn(messages)).toEqual(result.title === 'a failure with an image' ? ['image/png'] : (result.media ?? []));
});

it('answers every call before the media, and says where they come from', async () => {
  const image = awkwardResults.find(({ title }) => title === 'a PNG');
  if (!image) throw new Error('no image');
  const { tools } = await adapterRun({ server: awkwardResultServer() });
  const { endpoint, client } = await api(calls('result_0', resultTool(image), 'result_0'), done);
  await answer(client, tools);
  const messages = answered(endpoint);
  expect(messages.map(({ role }) => role)).toEqual(['tool', 'tool', 'tool', 'user']);
  expect(messages[1]?.content).toContain('["image-1" (image/png) follows in the next message.]');
  expect(messages[3]?.content).toMatchObject([
    { type: 'text', text: expect.stringContaining('not from the user') },
    { type: 'text', text: `"image-1" (image/png), from ${resultTool(image)} (call_2):` },
    { type: 'image_url' },
  ]);
});

it('shows no media where only notes are wanted', async () => {
  const image = awkwardResults.find(({ title }) => title === 'a PNG');
  if (!image) throw new Error('no image');
  const { tools } = await adapterRun({ server: awkwardResultServer() });
  const { endpoint, client } = await api(calls(resultTool(image)), done);
  await answer(client, tools, { media: 'note' });
  const messages = answered(endpoint);
  expect(messages.map(({ role }) => role)).toEqual(['tool']);
  expect(messages[0]?.content).toContain('the model cannot be given this media type');
});

it.each(['length', 'content_filter', 'tool_calls'])(
  'does not carry out a last call that the model could not finish: %s',
  async (finish_reason) => {
    const server = awkwardResultServer();
    const { tools } = await adapterRun({ server });
    const { client } = await api({ id: 'c_1', object: 'chat.completion', choices: [choiceOf(finish_reason)] });
    const { choices } = await client.chat.completions.create({ model: 'm', messages: [] });
    const [first, last] = await openaiChatToolMessages(tools, choices[0]!);
    expect(first?.content).toBe('fine');
    const isFinished = finish_reason === 'tool_calls';
    expect(last?.content).toMatch(isFinished ? /^fine$/ : /^Error: The call was cut off/);
    expect(server.calls).toHaveLength(isFinished ? 2 : 1);
  },
);

it('answers no custom tools, and nothing where nothing is asked', async () => {
  const { tools } = await adapterRun({ server: awkwardResultServer() });
  const custom = { id: 'call_1', type: 'custom', custom: { name: 'x', input: 'y' } };
  expect(await openaiChatToolMessages(tools, { tool_calls: [custom] })).toEqual([]);
  expect(await openaiChatToolMessages(tools, {})).toEqual([]);
  expect(await openaiChatToolMessages(tools, { tool_calls: null })).toEqual([]);
});
