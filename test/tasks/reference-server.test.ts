import type { ElicitationRequest, HandlerContext, ToolExecution } from 'mcp-toolset';
import { closeRunsAfterEach } from '../contract/live-run';
import { scene, type Source } from '../handlers/asking';
import { closeServersAfterAll, everythingStdio, startEverything } from '../servers';

closeServersAfterAll();
closeRunsAfterEach();

const SOURCES = {
  stdio: async (): Promise<Source> => ({ connection: everythingStdio() }),
  'Streamable HTTP': async (): Promise<Source> => ({ connection: (await startEverything()).connection }),
};
const WAYS = Object.keys(SOURCES) as (keyof typeof SOURCES)[];

interface Research {
  readonly execution: ToolExecution;
  /** What the user was asked in. */
  readonly asked: readonly object[];
}

/** Has the server research a topic; whoever is asked what is meant takes the first that is offered. */
async function research(way: keyof typeof SOURCES, input: { topic: string; ambiguous: boolean }): Promise<Research> {
  const asked: object[] = [];
  const elicit = ({ requestedSchema }: ElicitationRequest, context: HandlerContext) => {
    asked.push({ tool: context.mcpTool?.name, args: context.arguments, callId: context.callId });
    const { interpretation } = requestedSchema?.properties as { interpretation: { oneOf: { const: string }[] } };
    return { action: 'accept' as const, content: { interpretation: interpretation.oneOf[0]?.const } };
  };
  const { registry } = await scene(await SOURCES[way](), input.ambiguous ? { elicit } : {});
  return { execution: await registry.execute({ id: 'c', name: 'simulate-research-query', input }), asked };
}

const CLEAR = { topic: 'tides', ambiguous: false };
const AMBIGUOUS = { topic: 'python', ambiguous: true };
let found: { readonly clear: Research; readonly ambiguous: Research }[];

// The server takes seconds for each, which pass for all at once.
beforeAll(async () => {
  const both = async (way: keyof typeof SOURCES) => {
    const [clear, ambiguous] = await Promise.all([research(way, CLEAR), research(way, AMBIGUOUS)]);
    return { clear, ambiguous };
  };
  found = await Promise.all(WAYS.map(both));
}, 60_000);

describe.each(WAYS.map((way, index) => [way, index] as const))('the research tool over %s', (_, index) => {
  it('is a call like any other', () => {
    const { execution } = found[index]!.clear;
    expect(execution.status).toBe('success');
    expect(execution.content).toContain('Research Report: tides');
  });

  it('asks the user of the run what is meant', () => {
    const { execution, asked } = found[index]!.ambiguous;
    expect(execution.status).toBe('success');
    expect(execution.content).toMatch(/python/i);
    expect(asked).toEqual([{ tool: 'simulate-research-query', args: AMBIGUOUS, callId: 'c' }]);
  });
});
