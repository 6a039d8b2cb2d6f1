import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { Agent } from './agent';
import { anthropicLoop } from './anthropic-loop';
import { openaiLoop } from './openai-loop';
import { ScriptedModel } from './scripted-model';

/** The agent that the environment has a key for; without one, the scripted stand-in. */
export function chooseAgent(env: NodeJS.ProcessEnv): Agent {
  if (env.ANTHROPIC_API_KEY) {
    const model = env.ANTHROPIC_MODEL ?? 'claude-sonnet-4-5';
    return new Agent(model, false, anthropicLoop(new Anthropic({ apiKey: env.ANTHROPIC_API_KEY }).messages, model));
  }
  if (env.OPENAI_API_KEY) {
    const model = env.OPENAI_MODEL ?? 'gpt-5-mini';
    return new Agent(model, false, openaiLoop(new OpenAI({ apiKey: env.OPENAI_API_KEY }), model));
  }
  return scriptedAgent();
}

/** An agent without a model: the same loop, with a script that chooses the calls. */
export function scriptedAgent(): Agent {
  return new Agent('scripted stand-in', true, anthropicLoop(new ScriptedModel(), 'scripted'));
}
