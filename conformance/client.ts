/**
 * The client that the conformance suite runs: `node client.js <server URL>`, with the scenario's name and its context in
 * the environment. It does what an application does, whatever the scenario: it registers a toolset, calls every tool that
 * it finds, answers what the server asks, and sends its user to authorize where that is demanded.
 */
import 'reflect-metadata';
import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { container } from 'tsyringe';
import {
  AuthorizationRequiredError,
  completeAuthorization,
  configureMcpToolset,
  McpToolset,
  OnElicitation,
  RunFactory,
  ToolBinding,
  ToolRegistry,
  type ElicitationAnswer,
  type ToolExecution,
  type ToolSpecification,
} from 'mcp-toolset';
import { EnterpriseProvider, UserProvider } from './providers';

/** How often one user is sent to authorize: to log in, and for more scope. */
const MOST_AUTHORIZATIONS = 2;

const [, , url = ''] = process.argv;
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Record<string, string>;

const clientId = context.client_id ?? '';
const clientSecret = context.client_secret ?? '';

/** How the client authorizes where it is not by its user; the context alone does not say it. */
const PROVIDERS: Record<string, () => OAuthClientProvider> = {
  'auth/client-credentials-basic': () => new ClientCredentialsProvider({ clientId, clientSecret }),
  'auth/client-credentials-jwt': () =>
    new PrivateKeyJwtProvider({
      clientId,
      privateKey: context.private_key_pem ?? '',
      algorithm: context.signing_algorithm ?? '',
    }),
  'auth/cross-app-access-complete-flow': () => new EnterpriseProvider(context),
};
const authProvider = PROVIDERS[scenario]?.() ?? new UserProvider(context);

@McpToolset({ connection: { url, authProvider, allowInsecureHttp: true } })
class ServerTools {}

/** Only a toolset that answers the server listens to it outside of calls, so that the others show what a call does alone. */
@McpToolset()
class AskedTools extends ServerTools {
  @OnElicitation()
  acceptDefaults(): ElicitationAnswer {
    return { action: 'accept' };
  }
}

const toolset = scenario.startsWith('elicitation-') ? AskedTools : ServerTools;

/** Stands for the user and the browser: agrees at once, and comes back with the code. */
async function codeOfUser(authorizationUrl: URL): Promise<string> {
  const response = await fetch(authorizationUrl, { redirect: 'manual' });
  const code = new URL(response.headers.get('location') ?? '').searchParams.get('code');
  if (code === null) throw new Error(`${authorizationUrl.origin} sent the user back without a code`);
  return code;
}

let authorizations = 0;

/** Does something that the user may have to authorize, and once more after that. */
async function authorized<T>(binding: ToolBinding, action: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof AuthorizationRequiredError) || authorizations === MOST_AUTHORIZATIONS) throw error;
      authorizations += 1;
      await completeAuthorization(toolset, binding, await codeOfUser(error.authorizationUrl));
    }
  }
}

const EXAMPLES: Record<string, unknown> = {
  number: 1,
  integer: 1,
  boolean: true,
  string: 'text',
  array: [],
  object: {},
};

/** Something for each property of a tool's input. */
function inputFor({ inputSchema }: ToolSpecification): Record<string, unknown> {
  const properties = Object.entries((inputSchema.properties ?? {}) as Record<string, { type: string }>);
  return Object.fromEntries(properties.map(([name, { type }]) => [name, EXAMPLES[type]]));
}

async function call(tools: ToolRegistry, specification: ToolSpecification): Promise<ToolExecution> {
  const execution = await tools.execute({ name: specification.name, input: inputFor(specification) });
  if (execution.error instanceof Error) throw execution.error;
  return execution;
}

async function main(): Promise<void> {
  configureMcpToolset(container, { clientInfo: { name: 'mcp-toolset-conformance', version: '1.0.0' } });
  await using run = container.resolve(RunFactory).start({ timeout: 25_000 });
  const binding = run.resolve(ToolBinding);
  const tools = run.resolve(ToolRegistry);
  await authorized(binding, () => tools.register(toolset));
  for (const specification of tools.specifications) {
    const { status, content } = await authorized(binding, () => call(tools, specification));
    console.log(`${specification.name}: ${status}: ${content}`);
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
