/**
 * `npm run sample:interactive`: a server asks this application's user, and its model. The user answers in the terminal;
 * where there is none, by a script. No key, no network: the model is a stand-in.
 */
import 'reflect-metadata';
import { container } from 'tsyringe';
import {
  McpToolset,
  OnElicitation,
  OnSampling,
  Run,
  RunFactory,
  ToolError,
  ToolRegistry,
  type ElicitationAnswer,
  type ElicitationRequest,
  type HandlerContext,
  type SamplingAnswer,
  type SamplingRequest,
} from 'mcp-toolset';
import { Budget } from './budget';
import { complete } from './model';
import { SERVER } from './server';
import { User } from './user';

@McpToolset({
  connection: SERVER,
  tools: { include: ['trigger-elicitation-request', 'trigger-url-elicitation', 'trigger-sampling-request'] },
})
class AskingTools {
  constructor(
    private readonly run: Run,
    private readonly user: User,
    private readonly budget: Budget,
  ) {}

  /** What the server says is shown as its words, and nothing leaves without the user's consent. */
  @OnElicitation()
  async askUser(request: ElicitationRequest, { mcpTool, signal }: HandlerContext): Promise<ElicitationAnswer> {
    const { actorId } = this.run.invocation;
    this.user.say(`The server of ${mcpTool?.name ?? 'this session'} asks ${actorId}: ${request.message}`);
    if (request.mode === 'url') {
      // Show where the link leads, and let the user open it: never fetch it, never open it unasked.
      const agrees = await this.user.confirms(`Open ${new URL(request.url ?? '').host}?`, signal);
      return { action: agrees ? 'accept' : 'decline' };
    }
    const name = await this.user.answer('Your name (empty to decline):', signal);
    return name === '' ? { action: 'decline' } : { action: 'accept', content: { name } }; // the rest: the schema's defaults
  }

  /** A model's time costs the application money, so each run has a budget for what its servers want to know. */
  @OnSampling()
  async askModel({ messages, maxTokens }: SamplingRequest, { signal }: HandlerContext): Promise<SamplingAnswer> {
    if (!this.budget.take(maxTokens)) {
      this.user.say(`Sampling refused: ${maxTokens} tokens wanted, ${this.budget.left} left.`);
      throw new ToolError(`The sampling budget of this run is used up (${this.budget.left} tokens left).`);
    }
    this.user.say(`Sampling allowed: ${maxTokens} tokens, ${this.budget.left} left.`);
    return complete(messages, { maxTokens, signal });
  }
}

async function main(): Promise<void> {
  await using run = container.resolve(RunFactory).start({ actorId: 'ada', timeout: 300_000 });
  run.container.registerInstance(Budget, new Budget(500));
  const user = new User();
  run.register(user);
  run.container.registerInstance(User, user);
  const tools = run.resolve(ToolRegistry);
  await tools.register(AskingTools);

  const call = async (name: string, input: object = {}): Promise<void> => {
    const { status, content } = await tools.execute({ name, input });
    user.say(`${name}: ${status}`, ...content.split('\n').filter((line) => line.trim() !== ''), '');
  };
  await call('trigger-elicitation-request');
  await call('trigger-url-elicitation', { url: 'https://bank.example/agree?order=7', elicitationId: 'order-7' });
  await call('trigger-sampling-request', { prompt: 'Say hello.', maxTokens: 400 });
  await call('trigger-sampling-request', { prompt: 'Say more.', maxTokens: 400 });
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
