import type { ElicitationAnswer, ElicitationRequest } from 'mcp-toolset';
import { closeServersAfterEach } from '../servers';
import { closeRunsAfterEach } from '../contract/live-run';
import { ask, askingServer, form, scene, UNDISCLOSED, type Scene } from './asking';

closeServersAfterEach();
closeRunsAfterEach();

const SIZE = { size: { type: 'string', enum: ['S', 'M'], default: 'M' }, count: { type: 'integer', minimum: 1 } };

/** A scene whose user always answers this way; `asked` is what the handler was given. */
async function answering(answer: unknown): Promise<Scene & { asked: ElicitationRequest[] }> {
  const asked: ElicitationRequest[] = [];
  const elicit = (request: ElicitationRequest): ElicitationAnswer => {
    asked.push(request);
    return answer as ElicitationAnswer;
  };
  return { ...(await scene(await askingServer(), { elicit })), asked };
}

describe('an elicitation in form mode', () => {
  it('reaches the handler as the server sent it, and the answer the server', async () => {
    const { registry, asked } = await answering({ action: 'accept', content: { size: 'S', count: 2 } });
    const params = { ...form(SIZE, { required: ['size'] }), mode: 'form', _meta: { a: 1 } };
    const reply = await ask(registry, 'elicitation/create', params);
    expect(reply).toEqual({ result: { action: 'accept', content: { size: 'S', count: 2 } } });
    expect(asked).toEqual([params]);
  });

  it('has the defaults of the schema where the user filled in nothing', async () => {
    const { registry } = await answering({ action: 'accept', content: { size: undefined, count: 1 } });
    const reply = await ask(registry, 'elicitation/create', form(SIZE, { required: ['size', 'count'] }));
    expect(reply).toEqual({ result: { action: 'accept', content: { size: 'M', count: 1 } } });
  });

  it('is answered by the defaults alone where the handler gives no content', async () => {
    const { registry } = await answering({ action: 'accept' });
    const reply = await ask(
      registry,
      'elicitation/create',
      form({ ...SIZE, flag: { type: 'boolean', default: false } }),
    );
    expect(reply).toEqual({ result: { action: 'accept', content: { size: 'M', flag: false } } });
  });

  it.each(['decline', 'cancel'])('can be answered by %s, without content', async (action) => {
    const { registry, log } = await answering({ action, content: { secret: 1 } });
    expect(await ask(registry, 'elicitation/create', form(SIZE))).toEqual({ result: { action } });
    expect(log.errors).toEqual([]);
  });

  it.each<[string, unknown, RegExp]>([
    ['a value outside of an enum', { action: 'accept', content: { size: 'XXL' } }, /\/size must be equal to one of/],
    ['a value of another type', { action: 'accept', content: { count: 'two' } }, /\/count must be integer/],
    ['a required value that is missing', { action: 'accept', content: {} }, /must have required property 'count'/],
    ['content that is no object', { action: 'accept', content: 'two' }, /"content" to be an object/],
    ['content that is a list', { action: 'accept', content: [1] }, /"content" to be an object/],
    ['another action', { action: 'approve' }, /expected "action" to be accept, decline or cancel/],
    ['nothing', undefined, /returned undefined/],
    ['a text', 'accept', /returned accept/],
  ])('is not answered by %s: the server learns nothing, the log the reason', async (_, answer, reason) => {
    const { registry, log } = await answering(answer);
    const reply = await ask(registry, 'elicitation/create', form(SIZE, { required: ['count'] }));
    expect(reply).toEqual(UNDISCLOSED);
    expect(log.errors).toEqual([
      expect.stringMatching(/^Toolset Asking, method elicit: the server's elicitation\/create/),
    ]);
    expect(log.errors[0]).toMatch(reason);
    expect(log.thrown).toEqual([expect.objectContaining({ code: 'configuration_error', toolset: 'Asking' })]);
  });

  it('is not answered by what the schema allows and the protocol does not', async () => {
    const { registry, log } = await answering({ action: 'accept', content: { size: 'S', more: { deep: 'secret' } } });
    expect(await ask(registry, 'elicitation/create', form(SIZE))).toEqual(UNDISCLOSED);
    expect(log.errors).toEqual([expect.stringContaining('content.more')]);
    expect(log.thrown).toEqual([expect.objectContaining({ code: 'configuration_error', toolset: 'Asking' })]);
  });

  it('cannot be made endless by a pattern of the server', async () => {
    const { registry, log } = await answering({ action: 'accept', content: { name: `${'a'.repeat(40)}!` } });
    const schema = form({ name: { type: 'string', pattern: '^(a+)+$' } });
    expect(await ask(registry, 'elicitation/create', schema)).toEqual(UNDISCLOSED);
    expect(log.errors).toEqual([expect.stringContaining('cannot be checked: it takes longer than')]);
  });
});

describe('an elicitation in URL mode', () => {
  const VISIT = { mode: 'url', message: 'Pay here.', url: 'https://pay.example/1', elicitationId: 'e-1' };

  it('reaches the handler with its URL and id', async () => {
    const { registry, asked } = await answering({ action: 'accept' });
    expect(await ask(registry, 'elicitation/create', VISIT)).toEqual({ result: { action: 'accept' } });
    expect(asked).toEqual([VISIT]);
  });

  it('never carries content to the server', async () => {
    const { registry } = await answering({ action: 'accept', content: { card: '4111' } });
    expect(await ask(registry, 'elicitation/create', VISIT)).toEqual({ result: { action: 'accept' } });
  });

  it.each(['decline', 'cancel'])('can be answered by %s', async (action) => {
    const { registry } = await answering({ action });
    expect(await ask(registry, 'elicitation/create', VISIT)).toEqual({ result: { action } });
  });
});

describe('an elicitation that the protocol does not know', () => {
  it('does not reach the handler, and the call goes on', async () => {
    const { registry, asked } = await answering({ action: 'accept' });
    const nested = form({ address: { type: 'object', properties: {} } });
    expect(await ask(registry, 'elicitation/create', nested)).toMatchObject({ error: { code: -32602 } });
    expect(await ask(registry, 'elicitation/create', { mode: 'url' })).toMatchObject({ error: { code: -32602 } });
    expect(asked).toEqual([]);
  });
});
