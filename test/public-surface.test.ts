import { join } from 'node:path';
import ts from 'typescript';
import * as anthropic from 'mcp-toolset/anthropic';
import * as langchain from 'mcp-toolset/langchain';
import * as openai from 'mcp-toolset/openai';
import * as aiSdk from 'mcp-toolset/ai-sdk';
import * as openaiAgents from 'mcp-toolset/openai-agents';
import * as main from 'mcp-toolset';
import * as testing from 'mcp-toolset/testing';

/**
 * Everything that the package exports, by name. A name that is added here is promised to every user, and one that is
 * taken away breaks somebody: change these lists on purpose, with a line in the changelog.
 */
const MAIN = [
  'Artifact',
  'ArtifactResolver',
  'AuthorizationRequiredError',
  'CancelledError',
  'CatalogStore',
  'CleanupError',
  'ClientFactory',
  'ConfigurationError',
  'CreateClient',
  'DeadlineExceededError',
  'ListRoots',
  'MapResult',
  'MapTool',
  'McpTool',
  'McpToolset',
  'McpToolsetError',
  'OnElicitation',
  'OnError',
  'OnLog',
  'OnProgress',
  'OnSampling',
  'OnToolsChanged',
  'ProtocolError',
  'ProviderError',
  'Run',
  'RunFactory',
  'SessionRegistry',
  'Tool',
  'ToolBinding',
  'ToolError',
  'ToolRegistry',
  'ToolResult',
  'ToolsetDiscovery',
  'completeAuthorization',
  'configureMcpToolset',
];

const MAIN_TYPES = [
  'AnyArtifact',
  'ArtifactResolverContext',
  'Awaitable',
  'CallOutcome',
  'CatalogOptions',
  'ConcreteTool',
  'ConnectOptions',
  'ConnectionOptions',
  'ConnectionSource',
  'CreateClientMethod',
  'DeferredArtifact',
  'ElicitationAnswer',
  'ElicitationRequest',
  'ExecuteOptions',
  'HandlerContext',
  'HttpConnectionOptions',
  'InlineArtifact',
  'Invocation',
  'JsonSchema',
  'KeyvLike',
  'LimitOptions',
  'Limits',
  'ListRootsMethod',
  'LogNotification',
  'Logger',
  'MapResultContext',
  'MapResultMethod',
  'MapToolContext',
  'MapToolMethod',
  'McpCallResult',
  'McpToolClass',
  'McpToolDefinition',
  'McpToolsetConfiguration',
  'McpToolsetErrorOptions',
  'MethodDecoratorOf',
  'OfficialAuthProvider',
  'OfficialClient',
  'OfficialTransport',
  'OnElicitationMethod',
  'OnErrorContext',
  'OnErrorMethod',
  'OnLogMethod',
  'OnProgressMethod',
  'OnSamplingMethod',
  'OnToolsChangedMethod',
  'OpenSession',
  'ProgressNotification',
  'RequestSigner',
  'Root',
  'RunOptions',
  'RunParts',
  'RunResource',
  'RunState',
  'SamplingAnswer',
  'SamplingRequest',
  'SessionOptions',
  'StdioConnectionOptions',
  'TaskOptions',
  'ToolCall',
  'ToolCallContext',
  'ToolClass',
  'ToolDefinition',
  'ToolEntry',
  'ToolEntryClass',
  'ToolExecution',
  'ToolProvider',
  'ToolSelection',
  'ToolSpecification',
  'ToolsetClass',
  'ToolsetOptions',
  'UnconnectedClient',
];

const TESTING = ['TestServer', 'createTestServer', 'overrideClient'];

const TESTING_TYPES = ['ClientSourceForTests', 'RecordedCall', 'TestCallContext', 'TestServerOptions', 'TestTool'];

const ANTHROPIC = ['anthropicToolResults', 'anthropicTools'];

const ANTHROPIC_TYPES = [
  'AssistantMessage',
  'ExecutedCall',
  'OnExecution',
  'PresentationLimits',
  'PresentationOptions',
];

const LANGCHAIN = ['langchainTools'];

const LANGCHAIN_TYPES = [
  'ExecutedCall',
  'LangChainTool',
  'LangChainToolOptions',
  'MediaForm',
  'OnExecution',
  'PresentationLimits',
];

const OPENAI = ['openaiChatToolMessages', 'openaiChatTools', 'openaiToolOutputs', 'openaiTools'];

const OPENAI_TYPES = [
  'AssistantChatChoice',
  'AssistantChatMessage',
  'ExecutedCall',
  'ModelResponse',
  'OnExecution',
  'OpenAIChatOptions',
  'OpenAIToolOptions',
  'PresentationLimits',
  'PresentationOptions',
];

const AI_SDK = ['aiSdkTools'];

const AI_SDK_TYPES = [
  'AiSdkToolOptions',
  'AiSdkToolOutput',
  'ExecutedCall',
  'MediaKind',
  'MediaPart',
  'OnExecution',
  'PresentationLimits',
  'PresentationOptions',
];

const OPENAI_AGENTS = ['openaiAgentsTools'];

const OPENAI_AGENTS_TYPES = [
  'ExecutedCall',
  'OnExecution',
  'OpenAIAgentsToolOptions',
  'PresentationLimits',
  'PresentationOptions',
];

const SRC = join(__dirname, '..', 'src');
const ADAPTERS = ['anthropic', 'langchain', 'openai', 'ai-sdk', 'openai-agents'].map(
  (name) => `adapters/${name}/index.ts`,
);
const entries = ['index.ts', 'testing/index.ts', ...ADAPTERS].map((file) => join(SRC, file));
let program: ts.Program;
beforeAll(() => {
  program = ts.createProgram(entries, {
    module: ts.ModuleKind.Node16,
    moduleResolution: ts.ModuleResolutionKind.Node16,
    target: ts.ScriptTarget.ES2022,
    skipLibCheck: true,
    noEmit: true,
  });
});

function exportsOf(file: string): ts.Symbol[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(join(SRC, file));
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error(`${file} is no module`);
  return checker.getExportsOfModule(module);
}

/** The names of an entry that exist for the compiler only. */
function typesOf(file: string): string[] {
  const checker = program.getTypeChecker();
  const isValue = (symbol: ts.Symbol): boolean =>
    ((symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol).flags & ts.SymbolFlags.Value) !==
    0;
  return exportsOf(file)
    .filter((symbol) => !isValue(symbol))
    .map(({ name }) => name)
    .sort();
}

/** The exported names that have no doc comment. */
function undocumented(file: string): string[] {
  const checker = program.getTypeChecker();
  return exportsOf(file)
    .filter((symbol) => {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      return ts.displayPartsToString(target.getDocumentationComment(checker)) === '';
    })
    .map(({ name }) => name);
}

describe('the main entry', () => {
  it('exports these values', () => {
    expect(Object.keys(main).sort()).toEqual(MAIN);
  });

  it('exports these types', () => {
    expect(typesOf('index.ts')).toEqual(MAIN_TYPES);
  });

  it('says of every name what it is', () => {
    expect(undocumented('index.ts')).toEqual([]);
  });
});

describe('the entry for tests', () => {
  it('exports these values', () => {
    expect(Object.keys(testing).sort()).toEqual(TESTING);
  });

  it('exports these types', () => {
    expect(typesOf('testing/index.ts')).toEqual(TESTING_TYPES);
  });

  it('says of every name what it is', () => {
    expect(undocumented('testing/index.ts')).toEqual([]);
  });
});

describe.each([
  ['anthropic', anthropic, ANTHROPIC, ANTHROPIC_TYPES],
  ['langchain', langchain, LANGCHAIN, LANGCHAIN_TYPES],
  ['openai', openai, OPENAI, OPENAI_TYPES],
  ['ai-sdk', aiSdk, AI_SDK, AI_SDK_TYPES],
  ['openai-agents', openaiAgents, OPENAI_AGENTS, OPENAI_AGENTS_TYPES],
])('the entry for %s', (name, entry, values, types) => {
  it('exports these values', () => {
    expect(Object.keys(entry).sort()).toEqual(values);
  });

  it('exports these types', () => {
    expect(typesOf(`adapters/${name}/index.ts`)).toEqual(types);
  });

  it('says of every name what it is', () => {
    expect(undocumented(`adapters/${name}/index.ts`)).toEqual([]);
  });
});
