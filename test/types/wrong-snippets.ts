import { method } from './prelude';

const METHOD_DECORATOR = /^TS1241: Unable to resolve signature of method decorator/;
const PROPERTY_DECORATOR = /^TS1240: Unable to resolve signature of property decorator/;
const CLASS_DECORATOR = /^TS1238: Unable to resolve signature of class decorator/;

/** Snippets that must not compile, and the one thing that the compiler must say. */
export const wrong: Record<string, [string, RegExp]> = {
  '@CreateClient on a method that returns nothing': [method('@CreateClient()', 'client() {}'), METHOD_DECORATOR],
  '@CreateClient on a method that returns only a client': [
    method('@CreateClient()', `client() { return { client: new Client({ name: 'a', version: '1' }) }; }`),
    METHOD_DECORATOR,
  ],
  '@CreateClient on a method that returns the client itself': [
    method('@CreateClient()', `async client() { return new Client({ name: 'a', version: '1' }); }`),
    METHOD_DECORATOR,
  ],
  '@CreateClient on a method that exchanges the two': [
    method(
      '@CreateClient()',
      `client() {
        return { transport: new Client({ name: 'a', version: '1' }), client: new StdioClientTransport({ command: 'x' }) };
      }`,
    ),
    METHOD_DECORATOR,
  ],
  '@CreateClient on a method that returns connection options': [
    method('@CreateClient()', `client() { return { url: 'https://a' }; }`),
    METHOD_DECORATOR,
  ],
  '@CreateClient on a method that wants something else than a binding': [
    method('@CreateClient()', `client(_: string): lib.UnconnectedClient { throw new Error(); }`),
    METHOD_DECORATOR,
  ],
  '@CreateClient on a method that wants a second parameter': [
    method('@CreateClient()', `client(_: ToolBinding, __: Run): lib.UnconnectedClient { throw new Error(); }`),
    METHOD_DECORATOR,
  ],
  '@CreateClient on a field': [
    method('@CreateClient()', 'client = (): lib.UnconnectedClient => { throw new Error(); };'),
    PROPERTY_DECORATOR,
  ],
  '@CreateClient on a class': ['@CreateClient()\nexport class Shop {}', CLASS_DECORATOR],
  '@CreateClient with a timeout that is no number': [
    method(`@CreateClient({ timeout: '5' })`, 'client(): lib.UnconnectedClient { throw new Error(); }'),
    /^TS2322: Type 'string' is not assignable to type 'number'/,
  ],
  '@OnElicitation on a method that returns nothing': [method('@lib.OnElicitation()', 'answer() {}'), METHOD_DECORATOR],
  '@OnElicitation on a method that returns another action': [
    method('@lib.OnElicitation()', `answer() { return { action: 'approve' as const }; }`),
    METHOD_DECORATOR,
  ],
  '@OnElicitation on a method that returns the content alone': [
    method('@lib.OnElicitation()', `async answer() { return { name: 'Ada' }; }`),
    METHOD_DECORATOR,
  ],
  '@OnElicitation on a method that wants a log': [
    method('@lib.OnElicitation()', `answer(_: lib.LogNotification): lib.ElicitationAnswer { throw new Error(); }`),
    METHOD_DECORATOR,
  ],
  '@OnElicitation on a field': [
    method('@lib.OnElicitation()', 'answer = (): lib.ElicitationAnswer => { throw new Error(); };'),
    PROPERTY_DECORATOR,
  ],
  '@OnSampling on a method that returns a text': [
    method('@lib.OnSampling()', `sample() { return 'Hello.'; }`),
    METHOD_DECORATOR,
  ],
  '@OnSampling on a method that names no model': [
    method('@lib.OnSampling()', `sample() { return { role: 'assistant' as const, content: {} }; }`),
    METHOD_DECORATOR,
  ],
  '@ListRoots on a method that returns texts': [
    method('@lib.ListRoots()', `roots() { return ['file:///a']; }`),
    METHOD_DECORATOR,
  ],
  '@ListRoots on a method that returns one root': [
    method('@lib.ListRoots()', `roots() { return { uri: 'file:///a' }; }`),
    METHOD_DECORATOR,
  ],
  '@OnProgress on a method that wants a number': [
    method('@lib.OnProgress()', 'progress(_: number) {}'),
    METHOD_DECORATOR,
  ],
  '@OnLog on a method that wants a third parameter': [
    method('@lib.OnLog()', 'log(_: lib.LogNotification, __: lib.HandlerContext, ___: Run) {}'),
    METHOD_DECORATOR,
  ],
  '@OnToolsChanged on a method that wants a list of tools': [
    method('@lib.OnToolsChanged()', 'changed(_: McpToolClass[]) {}'),
    METHOD_DECORATOR,
  ],
  '@MapTool on a method that returns a name': [
    method('@MapTool()', 'curate(tool: McpToolClass) { return tool.toolName; }'),
    METHOD_DECORATOR,
  ],
  '@MapTool on a method that returns true': [method('@MapTool()', 'curate() { return true; }'), METHOD_DECORATOR],
  '@MapTool on a method that returns an instance': [
    method('@MapTool()', 'async curate(tool: McpToolClass) { return new tool(binding); }'),
    METHOD_DECORATOR,
  ],
  '@MapTool on a method that returns an array': [
    method('@MapTool()', 'curate(tool: McpToolClass) { return [tool]; }'),
    METHOD_DECORATOR,
  ],
  '@MapTool on a method that takes the definition': [
    method('@MapTool()', 'curate(_: lib.McpToolDefinition) { return null; }'),
    METHOD_DECORATOR,
  ],
  '@MapTool on a method that takes the binding second': [
    method('@MapTool()', 'curate(tool: McpToolClass, _: ToolBinding) { return tool; }'),
    METHOD_DECORATOR,
  ],
  '@MapTool on a field': [method('@MapTool()', 'curate = (tool: McpToolClass) => tool;'), PROPERTY_DECORATOR],
  '@MapTool without its parentheses': [
    method('@MapTool', 'curate(tool: McpToolClass) { return tool; }'),
    /^TS1329: 'MapTool' accepts too few arguments/,
  ],
  '@MapResult on a method that takes a string': [
    method('@MapResult()', 'present(value: string) { return value; }'),
    METHOD_DECORATOR,
  ],
  '@MapResult on a method whose context has something else': [
    method('@MapResult()', 'present(_: unknown, context: { request: string }) { return context.request; }'),
    METHOD_DECORATOR,
  ],
  '@MapResult on a method with a third parameter': [
    method('@MapResult()', 'present(_: unknown, __: MapResultContext, run: Run) { return run; }'),
    METHOD_DECORATOR,
  ],
  '@MapResult on a field': [method('@MapResult()', 'present = (value: unknown) => value;'), PROPERTY_DECORATOR],
  '@OnError on a method that takes one kind of error only': [
    method('@OnError()', 'report(error: CleanupError) { return error.errors; }'),
    METHOD_DECORATOR,
  ],
  '@OnError on a method that takes a string': [
    method('@OnError()', 'report(message: string) { return message; }'),
    METHOD_DECORATOR,
  ],
  '@OnError on a method that wants the run in its context': [
    method('@OnError()', 'report(_: McpToolsetError, { run }: { run: Run }) { return run; }'),
    METHOD_DECORATOR,
  ],
  '@OnError on a setter': [method('@OnError()', 'set report(_: McpToolsetError) {}'), METHOD_DECORATOR],
  '@McpToolset on a method': [method(`@McpToolset()`, 'tools() {}'), METHOD_DECORATOR],
  '@McpToolset on an abstract class': [
    `@McpToolset({ connection: { command: 'x' } })\nexport abstract class Shop {}`,
    CLASS_DECORATOR,
  ],
  '@McpToolset with an unknown option': [
    `@McpToolset({ connection: { command: 'x' }, timeOut: 5 })\nexport class Shop {}`,
    /^TS2561: Object literal may only specify known properties, but 'timeOut'/,
  ],
  '@McpToolset with an unknown limit': [
    `@McpToolset({ connection: { command: 'x' }, limits: { maxTool: 5 } })\nexport class Shop {}`,
    /^TS2561: Object literal may only specify known properties, but 'maxTool'/,
  ],
  '@McpToolset with a connection that is none': [
    `@McpToolset({ connection: { address: 'x' } })\nexport class Shop {}`,
    /^TS2353: Object literal may only specify known properties, and 'address'/,
  ],
  '@McpToolset with a function that returns something else': [
    `@McpToolset({ connection: () => 'https://a' })\nexport class Shop {}`,
    /^TS2322: Type '.*string.*' is not assignable/,
  ],
  'run.resolve into the wrong type': [
    'export const registry: ToolRegistry = run.resolve(ToolBinding);',
    /^TS2739: .*missing the following properties from type 'ToolRegistry'|^TS274[01]: |^TS2322: /,
  ],
  'a change to a run, a binding or an execution': [
    'binding.run = run;',
    /^TS2540: Cannot assign to 'run' because it is a read-only property/,
  ],
  'a value of an execution used as if it were known': [
    'export async function f(tool: Tool): Promise<string> { return (await tool.execute()).value; }',
    /^TS2322: Type 'unknown' is not assignable to type 'string'/,
  ],
  'a registry given a number': [
    'void new ToolRegistry(binding).register(5);',
    /^TS2345: Argument of type 'number' is not assignable to parameter of type 'ToolEntry'/,
  ],
  'a tool class that does not implement call': [
    `export class Own extends Tool { static override toolName = 'a'; }`,
    /^TS2515: Non-abstract class 'Own' does not implement inherited abstract member call/,
  ],
  'a tool whose call wants other input': [
    'export class Own extends Tool { call(input: string) { return input; } }',
    /^TS2416: Property 'call' in type 'Own' is not assignable to the same property in base type 'Tool'/,
  ],
  'Tool.define without a description': [
    `Tool.define({ name: 'a', inputSchema: {}, call: () => 1 });`,
    /^TS2345: .*Property 'description' is missing/s,
  ],
  'a run started with an unknown option': [
    `container.resolve(RunFactory).start({ actor: 'ada' });`,
    /^TS(2353|2561): Object literal may only specify known properties/,
  ],
  'a CleanupError without its errors': [`throw new CleanupError('x', {});`, /^TS2345: .*'errors' is missing/s],
  'the comparison of types itself': ['same<string, number>();', /^TS2554: Expected 1 arguments, but got 0/],
};
