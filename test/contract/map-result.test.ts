import {
  Artifact,
  CancelledError,
  DeadlineExceededError,
  McpToolset,
  MapTool,
  ProviderError,
  ToolError,
  ToolResult,
  type MapResultContext,
  type McpToolClass,
  type ToolCallContext,
  type ToolExecution,
} from 'mcp-toolset';
import { createTestServer, overrideClient } from 'mcp-toolset/testing';
import { container } from 'tsyringe';
import { startRawHttp, text, tool } from '../servers';
import { answering, closeAfterEach, executionOf, serve, serveIn, toolsetOf } from './served-tools';

closeAfterEach();

const IMAGE = { type: 'image', data: 'AAEC', mimeType: 'image/png' };
const RESULT = { content: [{ type: 'text', text: 'hello' }, IMAGE] };
const extra = Artifact.deferred({ reference: 'report-7', mediaType: 'application/pdf', name: 'report' });

function throwing(thrown: unknown): () => never {
  return () => {
    throw thrown;
  };
}

describe('R22: @MapResult', () => {
  it.each<[string, unknown, string]>([
    ['a string', 'mapped', 'mapped'],
    ['an object', { a: 1 }, '{"a":1}'],
    ['an array', [1], '[1]'],
    ['undefined', undefined, ''],
    ['null', null, ''],
    ['false', false, 'false'],
  ])('may return %s', async (_what, returned, content) => {
    const execution = await executionOf(RESULT, { mapResult: () => returned });
    expect(execution).toMatchObject({ status: 'success', content, artifacts: [{ mediaType: 'image/png' }] });
    expect(execution.value).toBe(returned);
  });

  it('may be asynchronous', async () => {
    const mapResult = async (value: unknown): Promise<string> => `${String(value)}!`;
    expect((await executionOf(RESULT, { mapResult })).value).toBe('hello!');
  });

  it('joins the artifacts of a ToolResult with those of the result', async () => {
    const mapResult = (): ToolResult => new ToolResult({ value: 'both', artifacts: [extra] });
    const execution = await executionOf(RESULT, { mapResult });
    expect(execution).toMatchObject({ value: 'both', content: 'both' });
    expect(execution.artifacts).toEqual([expect.objectContaining({ mediaType: 'image/png', kind: 'inline' }), extra]);
  });

  it('keeps the artifacts of the result where a ToolResult has none', async () => {
    const execution = await executionOf(RESULT, { mapResult: () => new ToolResult({ value: 1 }) });
    expect(execution.artifacts).toMatchObject([{ mediaType: 'image/png' }]);
  });

  it('sees the default value, the raw result, the definition, the arguments and the binding', async () => {
    const seen: { value: unknown; context: MapResultContext }[] = [];
    const definition = { title: 'Answer', 'x-extra': [1] };
    const { call, run } = await answering(RESULT, {
      definition,
      mapResult: (value, context) => void seen.push({ value, context }),
    });
    await call({ q: ['x'] });
    await call(null);
    expect(seen[0]).toEqual({
      value: 'hello',
      context: {
        result: RESULT,
        mcpTool: tool('answer', definition),
        arguments: { q: ['x'] },
        binding: expect.objectContaining({ run }),
      },
    });
    expect(seen[1]?.context.arguments).toEqual({});
    expect(seen[0]?.context.binding.run).toBe(run);
    expect(seen[0]?.context.binding.container).toBe(run.container);
  });

  it('sees the wire name where @MapTool has given another', async () => {
    const server = await startRawHttp({ tools: [tool('wire.name')] });
    const names: string[] = [];

    @McpToolset()
    class RenamedTools extends toolsetOf(server.connection, {
      mapResult: (value, { mcpTool }) => names.push(mcpTool.name) && value,
    }) {
      @MapTool()
      rename(generated: McpToolClass) {
        generated.toolName = 'shown';
        return generated;
      }
    }

    const { call } = await serve(RenamedTools);
    expect(await call({}, 'shown')).toMatchObject({ status: 'success' });
    expect(names).toEqual(['wire.name']);
  });

  it('shows the model its ToolError, and keeps what had come', async () => {
    const error = new ToolError('Ask for less.');
    const execution = await executionOf(RESULT, { mapResult: throwing(error) });
    expect(execution).toMatchObject({ status: 'error', content: 'Ask for less.', value: 'hello' });
    expect(execution.error).toBe(error);
    expect(execution.artifacts).toMatchObject([{ mediaType: 'image/png' }]);
  });

  it.each<[string, unknown]>([
    ['TypeError', new TypeError('password=hunter2')],
    ['string', 'password=hunter2'],
    ['undefined', undefined],
    ['ProviderError', new ProviderError('password=hunter2')],
    ['ProviderError', new ProviderError('of another call', { outcome: 'not-sent' })],
  ])('shows the model only the class of another error (%s), and keeps what had come', async (name, thrown) => {
    for (const mapResult of [throwing(thrown), () => Promise.reject(thrown)]) {
      const execution = await executionOf(RESULT, { mapResult });
      expect(execution).toMatchObject({ status: 'error', content: `Tool failed (${name})`, value: 'hello' });
      expect(execution.error).toBe(thrown);
      expect(execution.artifacts).toHaveLength(1);
    }
  });

  it.each([new CancelledError('enough'), new DeadlineExceededError('late')])(
    'ends the call where it throws a %s',
    async (error) => {
      const { call } = await answering(RESULT, { mapResult: throwing(error) });
      await expect(call()).rejects.toBe(error);
    },
  );

  it('never mixes up the results of two calls that fail with the same error', async () => {
    const error = new ToolError('always the same');
    const server = await startRawHttp({
      tools: [tool('answer')],
      call: ({ arguments: input }) => text(String(input?.q), { content: [{ type: 'text', text: input?.q }, IMAGE] }),
    });
    const { call, tools } = await serve(toolsetOf(server.connection, { mapResult: throwing(error) }));
    const [first, second] = await Promise.all([call({ q: 'one' }), call({ q: 'two' })]);
    expect([first.value, second.value]).toEqual(['one', 'two']);
    expect((await tools.execute({ name: 'missing' })).value).toBeUndefined();
    expect((await call('wrong input')).artifacts).toEqual([]);
  });

  it('is a failure of the tool where what it returned cannot be shown, which loses nothing', async () => {
    const value = { count: 1n };
    const mapResult = (): ToolResult => new ToolResult({ value, artifacts: [extra] });
    const execution = await executionOf(RESULT, { mapResult });
    expect(execution.error).toBeInstanceOf(ToolError);
    expect(execution).toMatchObject({ status: 'error', content: expect.stringContaining('cannot be shown as JSON') });
    expect(execution.value).toBe(value);
    expect(execution.artifacts).toHaveLength(2);
  });

  it('is a failure of the tool where its artifacts are none, which loses nothing', async () => {
    const mapResult = (): ToolResult => new ToolResult({ value: 1, artifacts: ['no artifact' as unknown as Artifact] });
    const execution = await executionOf(RESULT, { mapResult });
    expect(execution).toMatchObject({ status: 'error', content: 'Tool failed (ConfigurationError)', value: 'hello' });
    expect(execution.artifacts).toHaveLength(1);
  });

  it('may change what it is given without changing what the next call gets', async () => {
    const { call } = await answering(
      { structuredContent: { rows: [1] } },
      { mapResult: (value) => (value as { rows: number[] }).rows.push(2) && value },
    );
    expect((await call()).content).toBe('{"rows":[1,2]}');
    expect((await call()).content).toBe('{"rows":[1,2]}');
  });

  it('comes after a subclass of the generated class has called the server, and what came outlives its failure', async () => {
    const server = await startRawHttp({ tools: [tool('answer')], call: () => RESULT });

    @McpToolset()
    class LateTools extends toolsetOf(server.connection) {
      @MapTool()
      wrap(generated: McpToolClass) {
        return class Late extends generated {
          override async call(input: Record<string, unknown>, context: ToolCallContext) {
            await super.call(input, context);
            throw new RangeError('too late');
          }
        };
      }
    }

    const { call } = await serve(LateTools);
    const execution = await call();
    expect(execution).toMatchObject({ status: 'error', content: 'Tool failed (RangeError)', value: 'hello' });
    expect(execution.artifacts).toHaveLength(1);
  });
});

describe('R23: a result that is marked as an error', () => {
  const failing = { ...RESULT, isError: true };

  it('is an error execution with a ToolError, value and artifacts', async () => {
    const execution = await executionOf(failing);
    expect(execution).toMatchObject({ status: 'error', value: 'hello', content: 'hello' });
    expect(execution.error).toBeInstanceOf(ToolError);
    expect((execution.error as ToolError).message).toBe('hello');
    expect(execution.artifacts).toMatchObject([{ mediaType: 'image/png' }]);
  });

  it.each<[string, object]>([
    ['nothing', {}],
    ['content null', { content: null }],
    ['empty content', { content: [] }],
    ['an empty text', text('')],
    ['blank text', text(' \n\t ')],
    ['structuredContent null', { structuredContent: null }],
    ['an empty structuredContent', { structuredContent: '' }],
  ])('has content for %s', async (_what, result) => {
    const execution = await executionOf({ ...result, isError: true });
    expect(execution).toMatchObject({ status: 'error', content: 'The tool reported an error without saying which.' });
  });

  it.each<[string, unknown, string]>([
    ['a string', 'It is closed on Sundays.', 'It is closed on Sundays.'],
    ['an object', { reason: 'closed' }, '{"reason":"closed"}'],
    ['a ToolResult', new ToolResult({ value: 'closed', artifacts: [extra] }), 'closed'],
    ['undefined', undefined, 'The tool reported an error without saying which.'],
    ['an empty string', '', 'The tool reported an error without saying which.'],
  ])('has the mapped value as its content: %s', async (_what, returned, content) => {
    const execution = await executionOf(failing, { mapResult: () => returned });
    expect(execution).toMatchObject({ status: 'error', content });
    expect(execution.value).toBe(returned instanceof ToolResult ? returned.value : returned);
    expect(execution.artifacts).toHaveLength(returned instanceof ToolResult ? 2 : 1);
  });

  it('tells @MapResult that it is one', async () => {
    const mapResult = (value: unknown, { result }: MapResultContext): string =>
      `${String(result.isError)}: ${String(value)}`;
    expect((await executionOf(failing, { mapResult })).content).toBe('true: hello');
  });

  it('takes the ToolError of @MapResult for its own', async () => {
    const execution = await executionOf(failing, { mapResult: throwing(new ToolError('better said')) });
    expect(execution).toMatchObject({ status: 'error', content: 'better said', value: 'hello' });
  });

  it('loses nothing where the mapped value cannot be shown', async () => {
    const value = { n: 1n };
    const execution: ToolExecution = await executionOf(failing, { mapResult: () => value });
    expect(execution).toMatchObject({ status: 'error', content: expect.stringContaining('cannot be shown as JSON') });
    expect(execution.value).toBe(value);
    expect(execution.artifacts).toHaveLength(1);
  });

  it('is not checked by the outputSchema', async () => {
    const outputSchema = { type: 'object', required: ['total'] };
    const execution = await executionOf(
      { ...failing, structuredContent: { wrong: true } },
      { definition: { outputSchema } },
    );
    expect(execution).toMatchObject({ status: 'error', content: 'hello' });
    expect(execution.error).toBeInstanceOf(ToolError);
  });

  it('is what a polite server makes of a tool that throws', async () => {
    @McpToolset({ name: 'polite', connection: { url: 'https://never.example' } })
    class PoliteTools {}
    const server = createTestServer({ tools: { fails: { call: throwing(new Error('out of stock')) } } });
    const own = container.createChildContainer();
    overrideClient(own, PoliteTools, server);
    const { call } = await serveIn(own, PoliteTools);
    expect(await call()).toMatchObject({ status: 'error', content: 'out of stock', error: expect.any(ToolError) });
  });
});
