import { closeServersAfterAll, everythingStdio, startEverything } from '../servers';
import { closeRunsAfterEach, gate } from '../contract/live-run';
import { scene, type HandlerMethods, type Source } from './asking';

closeServersAfterAll();
closeRunsAfterEach();

/** The tools that the reference server offers only to clients with a capability. */
const NEEDS = {
  elicit: ['trigger-elicitation-request', 'trigger-url-elicitation'],
  sample: ['trigger-sampling-request'],
  roots: ['get-roots-list'],
};

const overStdio = (): Promise<Source> => Promise.resolve({ connection: everythingStdio() });
const overHttp = async (): Promise<Source> => ({ connection: (await startEverything()).connection });

describe.each([
  ['stdio', overStdio],
  ['Streamable HTTP', overHttp],
])('the reference server over %s', (_, start) => {
  let source: Source;
  beforeAll(async () => {
    source = await start();
  });

  it('offers what the handlers make possible', async () => {
    const handlers: HandlerMethods = { elicit: () => ({ action: 'cancel' }), roots: () => [] };
    const { registry } = await scene(source, handlers);
    expect(registry.names).toEqual(expect.arrayContaining([...NEEDS.elicit, ...NEEDS.roots]));
    expect(registry.names).not.toContain(NEEDS.sample[0]);
  });

  it('offers none of that to a toolset without handlers', async () => {
    const { registry } = await scene(source, {});
    const all = Object.values(NEEDS).flat();
    expect(registry.names.filter((name) => all.includes(name))).toEqual([]);
  });

  it('is answered by a form, with the defaults of its schema', async () => {
    const elicit = () => ({
      action: 'accept' as const,
      content: { name: 'Ada', email: 'ada@example.org', integer: 7 },
    });
    const { registry } = await scene(source, { elicit });
    const { status, content } = await registry.execute({ name: 'trigger-elicitation-request' });
    expect(status).toBe('success');
    const { content: received } = JSON.parse(content.slice(content.indexOf('{'))) as { content: object };
    expect(received).toMatchObject({
      name: 'Ada',
      email: 'ada@example.org',
      integer: 7,
      number: 3.14,
      firstLine: 'It was a dark and stormy night.',
      titledMultipleSelectEnum: ['fish-1'],
    });
  });

  it('never gets an e-mail address that is none', async () => {
    const elicit = () => ({ action: 'accept' as const, content: { name: 'Ada', email: 'secret' } });
    const { registry, log } = await scene(source, { elicit });
    const { status, content } = await registry.execute({ name: 'trigger-elicitation-request' });
    expect(status).toBe('error');
    expect(content).toContain('The client could not answer the request.');
    expect(content).not.toContain('secret');
    expect(log.errors).toEqual([expect.stringContaining('/email must match format "email"')]);
  });

  it('is answered in URL mode', async () => {
    const visited: unknown[] = [];
    const elicit: HandlerMethods['elicit'] = ({ mode, url }) => {
      visited.push([mode, url]);
      return { action: 'accept' };
    };
    const { registry } = await scene(source, { elicit });
    const input = { url: 'https://bank.example/agree', elicitationId: 'e-1' };
    const { content } = await registry.execute({ name: 'trigger-url-elicitation', input });
    expect(content).toContain('User completed the URL elicitation flow');
    expect(visited).toEqual([['url', input.url]]);
  });

  it('is answered by a model', async () => {
    const sample: HandlerMethods['sample'] = ({ messages, maxTokens }, { mcpTool, callId }) => {
      const [{ content } = { content: undefined }] = messages;
      const text = `${(content as { text: string }).text}, ${maxTokens}, ${mcpTool?.name}, ${callId}`;
      return { role: 'assistant', model: 'scripted', content: { type: 'text', text } };
    };
    const { registry } = await scene(source, { sample });
    const input = { prompt: 'Hello', maxTokens: 9 };
    const { content } = await registry.execute({ id: 'c1', name: 'trigger-sampling-request', input });
    expect(content).toContain('context: Hello, 9, trigger-sampling-request, c1');
    expect(content).toContain('"model": "scripted"');
  });

  it('is told the roots', async () => {
    const { registry } = await scene(source, { roots: () => [{ uri: 'file:///srv/ada', name: 'Ada' }] });
    const { content } = await registry.execute({ name: 'get-roots-list' });
    expect(content).toContain('1. Ada\n   URI: file:///srv/ada');
  });

  it('tells the progress of a long operation', async () => {
    const told: unknown[] = [];
    const full = gate();
    const progress: HandlerMethods['progress'] = ({ progress: step, total }, { mcpTool, callId }) => {
      if (told.push([step, total, mcpTool?.name, callId]) === 3) full.open();
    };
    const { registry } = await scene(source, { progress });
    const input = { duration: 0.3, steps: 3 };
    const call = await registry.execute({ id: 'c1', name: 'trigger-long-running-operation', input });
    expect(call.status).toBe('success');
    await full.passed;
    expect(told).toEqual([1, 2, 3].map((step) => [step, 3, 'trigger-long-running-operation', 'c1']));
  });

  it('tells its log, over the standing stream as well', async () => {
    const heard = gate<unknown>();
    const { registry } = await scene(source, { log: ({ level, data }) => heard.open([level, data]) });
    await registry.execute({ name: 'toggle-simulated-logging' });
    expect(await heard.passed).toEqual([expect.any(String), expect.stringMatching(/message/)]);
    expect((await registry.execute({ name: 'toggle-simulated-logging' })).content).toContain('Stopped');
  });
});
