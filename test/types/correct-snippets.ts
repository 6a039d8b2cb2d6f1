import { method } from './prelude';

/** Snippets that must compile. */
export const correct: Record<string, string> = {
  '@CreateClient on a method that returns client and transport': method(
    '@CreateClient()',
    `client() {
      return { client: new Client({ name: 'a', version: '1' }), transport: new StdioClientTransport({ command: 'x' }) };
    }`,
  ),
  '@CreateClient on an async method that takes the binding': method(
    '@CreateClient({ timeout: 5, maxTotalTimeout: 9, onprogress: () => undefined })',
    `async client({ run }: ToolBinding) {
      const headers = { authorization: String(run?.invocation.actorId) };
      const transport = new StreamableHTTPClientTransport(new URL('https://a'), { requestInit: { headers } });
      return { client: new Client({ name: 'a', version: '1' }), transport };
    }`,
  ),
  '@CreateClient with every transport of the SDK': `
    declare const own: Transport;
    export class Shop {
      @CreateClient()
      client() {
        const transport = [
          new SSEClientTransport(new URL('https://a')), InMemoryTransport.createLinkedPair()[0], own,
        ][0]!;
        return { client: new Client({ name: 'a', version: '1' }), transport };
      }
    }`,
  "@CreateClient with the application's own subclasses and further members": `
    class Mine extends Client { private readonly secret = 1; use() { return this.secret; } }
    class Wire extends StdioClientTransport { private readonly more = 1; use() { return this.more; } }
    export class Shop {
      @CreateClient()
      client() {
        return { client: new Mine({ name: 'a', version: '1' }), transport: new Wire({ command: 'x' }), more: 1 };
      }
    }`,
  '@CreateClient with objects that only have the methods, and no private member': method(
    '@CreateClient()',
    `client() {
      const close = async (): Promise<void> => undefined;
      const client = { connect: close, request: async () => ({}), close };
      return { client, transport: { start: close, send: close, close } };
    }`,
  ),
  '@CreateClient on a private and on a protected method': `
    declare const make: () => Promise<lib.UnconnectedClient>;
    export class One { @CreateClient() private client() { return make(); } use() { return this.client(); } }
    export class Two { @CreateClient() protected client() { return make(); } }`,
  '@MapTool that omits, renames or returns the class': method(
    '@MapTool()',
    `curate(tool: McpToolClass, { mcpTool, binding }: MapToolContext) {
      if (mcpTool.name === 'a' || binding.run === undefined) return null;
      if (mcpTool.annotations?.['readOnlyHint'] !== true) return undefined;
      tool.toolName = mcpTool.name;
      tool.description = mcpTool.description ?? 'none';
      tool.exclusive = true;
      tool.availableIf = ({ run }) => run?.invocation.actorId === 'ada';
      return tool;
    }`,
  ),
  '@MapTool that returns a subclass, async': method(
    '@MapTool()',
    `async curate(tool: McpToolClass) {
      return class extends tool {
        static override toolName = 'mine';
        override async call(input: Record<string, unknown>, context: ToolCallContext) {
          return super.call({ ...input, more: true }, context);
        }
      };
    }`,
  ),
  '@MapTool that needs no parameter, and one that returns nothing but null': `
    export class One { @MapTool() curate() { return null; } }
    export class Two { @MapTool() async curate(tool: McpToolClass) { return tool; } }`,
  '@MapResult of any value, sync or async': `
    export class One { @MapResult() present(value: unknown) { return value; } }
    export class Two { @MapResult() async present() { return new ToolResult({ value: 1, artifacts: [] }); } }
    export class Three { @MapResult() present(): void {} }`,
  '@MapResult that uses its context': method(
    '@MapResult()',
    `present(value: unknown, { result, mcpTool, arguments: args, binding }: MapResultContext) {
      const blocks: readonly unknown[] = result.content ?? [];
      const id: string | undefined = binding.run?.id;
      return [value, blocks.length, mcpTool.name, args['q'], result.structuredContent, result.isError, id];
    }`,
  ),
  '@OnError that takes the error and the context': method(
    '@OnError()',
    `async report(error: McpToolsetError, { binding }: OnErrorContext) {
      const told: [string, string | undefined, string | undefined] = [error.code, error.toolset, binding.run?.id];
      return told;
    }`,
  ),
  '@OnError that takes any Error, or nothing': `
    export class One { @OnError() report(error: Error) { throw error; } }
    export class Two { @OnError() report() {} }`,
  'every handler, sync, async, with and without its parameters': `
    export class One {
      @lib.OnElicitation()
      async answer(request: lib.ElicitationRequest, { signal, mcpTool, callId, arguments: args }: lib.HandlerContext) {
        if (request.mode === 'url' || signal.aborted) return { action: 'decline' as const };
        return { action: 'accept' as const, content: { name: mcpTool?.name, id: callId, q: args?.['q'] } };
      }
      @lib.OnSampling()
      sample({ messages, maxTokens }: lib.SamplingRequest) {
        const text = String(messages.length + maxTokens);
        return { role: 'assistant' as const, model: 'm', content: { type: 'text', text } };
      }
      @lib.ListRoots() roots(): lib.Root[] { return [{ uri: 'file:///a' }]; }
      @lib.OnProgress() progress({ progress, total }: lib.ProgressNotification) { return progress / (total ?? 1); }
      @lib.OnLog() async log({ level, data }: lib.LogNotification) { await Promise.resolve([level, data]); }
      @lib.OnToolsChanged() private changed() {}
      use() { this.changed(); }
    }
    export class Two {
      @lib.OnElicitation() answer(): lib.ElicitationAnswer { return { action: 'cancel' }; }
      @lib.OnSampling() async sample(): Promise<lib.SamplingAnswer> { throw new ToolError('No.'); }
      @lib.ListRoots() async roots() { return [{ uri: 'file:///a', name: undefined }]; }
    }`,
  '@McpToolset with every option': `
    @McpToolset({
      name: 'shop', optional: true, timeout: 5, calls: 'serial', limits: { maxTools: 3 },
      connection: { url: new URL('https://a'), headers: { a: 'b' }, timeout: 1, allowInsecureHttp: false },
      tools: { include: ['a'], exclude: [], prefix: 'p_' },
    })
    export class Shop { constructor(readonly run: Run) {} }
    @McpToolset({ connection: { command: 'node', args: ['-v'], env: { A: 'b' }, cwd: '/' } })
    export class Child {}
    @McpToolset({ connection: async ({ run }) => ({ url: String(run?.id) }) })
    export class Later {}
    @McpToolset()
    export class Bare { @CreateClient() client(): Promise<lib.UnconnectedClient> { throw new Error(); } }`,
  'run.resolve gives what the token stands for': `
    same<typeof resolved, [ToolRegistry, ToolBinding, Run, RunFactory]>();
    const resolved: [ToolRegistry, ToolBinding, Run, RunFactory] = [
      run.resolve(ToolRegistry), run.resolve(ToolBinding), run.resolve(Run), run.resolve(RunFactory),
    ];
    class Controller { constructor(readonly tools: ToolRegistry) {} }
    const controller = run.resolve(Controller);
    same<typeof controller, Controller>();
    const named = run.resolve<{ a: 1 }>('token');
    same<typeof named, { a: 1 }>();
    export const text: string = run.resolve(Controller).tools.names[0] ?? '';`,
  'the types of a context': `
    same<MapToolContext['binding'], ToolBinding>();
    same<MapResultContext['arguments'], Readonly<Record<string, unknown>>>();
    same<OnErrorContext, { readonly binding: ToolBinding }>();
    same<ToolCallContext['signal'], AbortSignal>();
    same<ToolCallContext['callId'], string | undefined>();
    same<ToolBinding['run'], Run | undefined>();
    same<ToolExecution['status'], 'success' | 'error'>();
    same<ToolExecution['value'], unknown>();
    same<ToolExecution['artifacts'], readonly AnyArtifact[]>();`,
  'a registry takes every kind of entry': `
    @McpToolset({ connection: { command: 'x' } })
    class Shop { constructor(readonly run: Run) {} }
    abstract class Base extends Tool {}
    class Own extends Base { constructor(readonly more: Run) { super(); } call() { return 1; } }
    const Defined = Tool.define({ name: 'a', description: 'b', inputSchema: {}, call: async (input) => input['a'] });
    const provider: ToolProvider = { tools: async () => [Shop, [Own, new Defined()]] };
    class Static { static tools() { return Shop; } }
    class Injected { constructor(readonly run: Run) {} tools(of: ToolBinding) { return [of.run ? Own : Shop]; } }
    export const registry = new ToolRegistry(binding);
    void registry.register(Shop, Own, Defined, new Defined(), provider, Static, Injected, [[Shop], provider]);
    void run.resolve(ToolsetDiscovery).discover(Shop, binding).then((classes) => registry.register(...classes));
    void registry.register(run.resolve(ToolsetDiscovery).provider(Shop));`,
  'a defined tool can be extended and made': `
    const Defined = Tool.define({ name: 'a', description: 'b', inputSchema: {}, call: (_, { signal }) => signal.aborted });
    export class More extends Defined { override close() {} }
    export const execution: Promise<ToolExecution> = new More().execute({ a: 1 }, { signal: AbortSignal.timeout(5) });`,
  'is() narrows to the class that it is called on': `
    class OutOfStock extends ToolError { sku = 'x'; }
    export function narrowed(error: unknown): string | readonly unknown[] | undefined {
      if (OutOfStock.is(error)) return error.sku;
      if (CleanupError.is(error)) return error.errors;
      return McpToolsetError.is(error) ? error.outcome : undefined;
    }`,
  'a run can be used with await using': `
    export async function answer(): Promise<string> {
      await using own = container.resolve(RunFactory).start({ actorId: undefined, timeout: 5, context: { a: 1 } });
      return own.id;
    }`,
  'an artifact knows by its kind what it has': `
    const inline = Artifact.inline({ data: Buffer.from('x'), mediaType: 'text/plain' });
    export const bytes: Uint8Array = inline.data;
    export const kind: 'deferred' = Artifact.deferred({ reference: 1, mediaType: 'a/b' }).kind;`,
  'the client factory can be replaced': `
    export class Fixed extends ClientFactory {
      override async create(_: lib.ToolsetClass, of: ToolBinding): Promise<lib.UnconnectedClient> {
        void of.container;
        const [transport] = InMemoryTransport.createLinkedPair();
        return { client: new Client({ name: 'a', version: '1' }), transport };
      }
    }`,
  'a key of what is shared may be missing, which is found when it is asked for': `
    const key = ({ run }: ToolBinding) => run?.invocation.actorId;
    export const options: lib.ToolsetOptions = {
      catalog: { ttl: 1, key },
      session: { scope: 'application', key },
    };`,
  'settings take a console, and part of the limits': `
    configureMcpToolset(container, { logger: console, limits: { maxTools: 5 }, timeout: undefined });`,
};
