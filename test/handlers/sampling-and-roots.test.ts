import type { Root, SamplingAnswer, SamplingRequest } from 'mcp-toolset';
import { closeServersAfterEach, type JsonObject } from '../servers';
import { closeRunsAfterEach } from '../contract/live-run';
import { ask, askingServer, sampling, scene, UNDISCLOSED, type Scene } from './asking';

closeServersAfterEach();
closeRunsAfterEach();

const TOOLS = { tools: [{ name: 'clock', inputSchema: { type: 'object' } }], toolChoice: { mode: 'auto' } };
const said = (text: string) => ({ type: 'text', text });

async function sampled(answer: unknown): Promise<Scene & { asked: SamplingRequest[] }> {
  const asked: SamplingRequest[] = [];
  const sample = async (request: SamplingRequest): Promise<SamplingAnswer> => {
    await Promise.resolve();
    asked.push(request);
    return answer as SamplingAnswer;
  };
  return { ...(await scene(await askingServer(), { sample })), asked };
}

describe('sampling', () => {
  it('reaches the handler as the server sent it, and the answer the server', async () => {
    const answer = { role: 'assistant', model: 'm-1', content: said('4'), stopReason: 'endTurn' };
    const { registry, asked } = await sampled(answer);
    const params = sampling('2 + 2?', {
      systemPrompt: 'Be brief.',
      temperature: 0,
      stopSequences: ['.'],
      modelPreferences: { hints: [{ name: 'small' }] },
    });
    expect(await ask(registry, 'sampling/createMessage', params)).toEqual({ result: answer });
    expect(asked).toEqual([params]);
  });

  it('hands on the tools of a server, and the use of one', async () => {
    const content = [said('Let me look.'), { type: 'tool_use', id: 'u1', name: 'clock', input: {} }];
    const answer = { role: 'assistant', model: 'm-1', content, stopReason: 'toolUse' };
    const { registry, asked } = await sampled(answer);
    const params = sampling('What time is it?', TOOLS);
    expect(await ask(registry, 'sampling/createMessage', params)).toEqual({ result: answer });
    expect(asked).toEqual([params]);
  });

  it.each<[string, unknown, JsonObject, RegExp]>([
    ['nothing', undefined, {}, /returned undefined/],
    ['no model', { role: 'assistant', content: said('a') }, {}, /model: /],
    ['another role', { role: 'system', model: 'm', content: said('a') }, {}, /role: /],
    ['no content', { role: 'assistant', model: 'm' }, {}, /content: /],
    ['content of no known type', { role: 'assistant', model: 'm', content: { type: 'x', secret: 1 } }, {}, /content/],
    ['the use of a tool where there is none', { role: 'assistant', model: 'm', content: [said('a')] }, {}, /content/],
    [
      'content of no known type, with tools',
      { role: 'assistant', model: 'm', content: [{ type: 'x' }] },
      TOOLS,
      /content/,
    ],
  ])('is not answered by %s: the server learns nothing, the log the reason', async (_, answer, extra, reason) => {
    const { registry, log } = await sampled(answer);
    expect(await ask(registry, 'sampling/createMessage', sampling('a', extra))).toEqual(UNDISCLOSED);
    expect(log.errors).toEqual([
      expect.stringMatching(/^Toolset Asking, method sample: .*sampling\/createMessage is not/),
    ]);
    expect(log.errors[0]).toMatch(reason);
    expect(log.thrown).toEqual([expect.objectContaining({ code: 'configuration_error', toolset: 'Asking' })]);
  });

  it('of a request that the protocol does not know does not reach the handler', async () => {
    const { registry, asked } = await sampled({});
    expect(await ask(registry, 'sampling/createMessage', { messages: 'none' })).toMatchObject({
      error: { code: -32602 },
    });
    expect(asked).toEqual([]);
  });
});

describe('roots', () => {
  const rooted = async (answer: unknown): Promise<Scene> =>
    scene(await askingServer(), { roots: () => answer as readonly Root[] });

  it('are the folders that the handler names', async () => {
    const roots = [{ uri: 'file:///srv/a', name: 'A' }, { uri: 'file:///srv/b%20c' }];
    const { registry } = await rooted(Promise.resolve(roots));
    expect(await ask(registry, 'roots/list')).toEqual({ result: { roots } });
  });

  it('may be none', async () => {
    const { registry } = await rooted([]);
    expect(await ask(registry, 'roots/list')).toEqual({ result: { roots: [] } });
  });

  it.each<[string, unknown]>([
    ['an http: URL', [{ uri: 'file:///a' }, { uri: 'https://a.example' }]],
    ['a path', [{ uri: '/home/ada' }]],
    ['a file: URL of another form', [{ uri: 'file:home' }]],
    ['a name that is no text', [{ uri: 'file:///a', name: 5 }]],
    ['an entry that is no object', [null]],
    ['no list', { uri: 'file:///a' }],
    ['nothing', undefined],
  ])('are refused where one is not in a folder by the protocol: %s', async (_, answer) => {
    const { registry, log } = await rooted(answer);
    expect(await ask(registry, 'roots/list')).toEqual(UNDISCLOSED);
    expect(log.errors).toEqual([
      expect.stringMatching(/^Toolset Asking, method roots: the server's roots\/list is not/),
    ]);
    expect(log.thrown).toEqual([expect.objectContaining({ code: 'configuration_error', toolset: 'Asking' })]);
  });
});
