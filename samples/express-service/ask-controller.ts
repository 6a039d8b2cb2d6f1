import { injectable } from 'tsyringe';
import { Run, ToolRegistry } from 'mcp-toolset';
import { Agent } from './agent';
import { Steps } from './steps';
import { ShopTools, WeatherTools } from './toolsets';

/** Answers one question; made for one run. */
@injectable()
export class AskController {
  constructor(
    private readonly run: Run,
    private readonly tools: ToolRegistry,
    private readonly agent: Agent,
    private readonly steps: Steps,
  ) {}

  async answer(question: string): Promise<void> {
    const { tools, steps, agent, run } = this;
    await tools.register(ShopTools, WeatherTools);
    steps.send({ type: 'start', model: agent.model, scripted: agent.isScripted, tools: tools.names });
    await agent.answer(question, { tools, steps, signal: run.signal });
  }
}
