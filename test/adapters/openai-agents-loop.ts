import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  Runner,
  tool,
  type AgentInputItem,
  type Model,
  type ModelRequest,
  type ModelResponse,
  type StreamEvent,
} from '@openai/agents';
import OpenAI from 'openai';
import type { ToolRegistry } from 'mcp-toolset';
import { openaiAgentsTools, type OpenAIAgentsToolOptions } from 'mcp-toolset/openai-agents';
import { openaiFaults } from './openai-rules';
import { ScriptedApi } from './scripted-api';

/** A call as a model writes it: its arguments are JSON, or are meant to be. */
export interface WrittenCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly status?: 'completed' | 'incomplete';
}

/** What a model says in one turn: a text, or calls. */
export type ModelTurn = string | readonly WrittenCall[];

const argumentsOf = ({ input }: WrittenCall): string => (typeof input === 'string' ? input : JSON.stringify(input));

type Output = Extract<StreamEvent, { type: 'response_done' }>['response']['output'];

function outputOf(turn: ModelTurn): Output {
  if (typeof turn === 'string') {
    const content = [{ type: 'output_text' as const, text: turn }];
    return [{ type: 'message', role: 'assistant', status: 'completed', content }];
  }
  return turn.map((call) => {
    const { id: callId, name, status = 'completed' } = call;
    return { type: 'function_call', callId, name, arguments: argumentsOf(call), status };
  });
}

/** A model of the Agents SDK that says what the script says. */
export class ScriptedModel implements Model {
  readonly requests: ModelRequest[] = [];

  constructor(private readonly turns: readonly ModelTurn[]) {}

  async getResponse(request: ModelRequest): Promise<ModelResponse & { output: Output }> {
    const turn = this.turns[this.requests.length];
    // The SDK goes on with the list that it has handed over.
    this.requests.push({ ...request, input: structuredClone(request.input) });
    if (turn === undefined) throw new Error('The model was asked more often than the script says.');
    return { usage: {} as ModelResponse['usage'], output: outputOf(turn) };
  }

  async *getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent> {
    const { output } = await this.getResponse(request);
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    yield { type: 'response_done', response: { id: 'resp_1', usage, output } };
  }
}

/** What an agent is made of. */
export interface Conversation {
  readonly tools: ToolRegistry;
  readonly model: Model;
  readonly options?: Partial<OpenAIAgentsToolOptions>;
  readonly agent?: Partial<Pick<Agent, 'tools' | 'toolUseBehavior'>>;
  readonly signal?: AbortSignal;
}

function agentOf({ tools, model, options, agent }: Conversation): Agent {
  return new Agent({ name: 'agent', model, tools: openaiAgentsTools(tools, { tool, ...options }), ...agent });
}

const runner = (): Runner => new Runner({ tracingDisabled: true });
const runOptions = ({ signal }: Conversation): { signal?: AbortSignal } => (signal ? { signal } : {});

/** Runs an agent until it is done. */
export async function runAgent(conversation: Conversation): Promise<{ text: unknown; history: AgentInputItem[] }> {
  const { finalOutput, history } = await runner().run(agentOf(conversation), 'Go.', runOptions(conversation));
  return { text: finalOutput, history };
}

/** Runs an agent until it is done, and reads what it streams. */
export async function streamAgent(conversation: Conversation): Promise<{ text: unknown; history: AgentInputItem[] }> {
  const given = { ...runOptions(conversation), stream: true as const };
  const streamed = await runner().run(agentOf(conversation), 'Go.', given);
  for await (const event of streamed) void event;
  await streamed.completed;
  return { text: streamed.finalOutput, history: streamed.history };
}

function responseOf(turn: ModelTurn): object {
  const said = typeof turn === 'string' ? turn : undefined;
  const content = [{ type: 'output_text', text: said, annotations: [] }];
  const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
  const calls = (typeof turn === 'string' ? [] : turn).map((call) => {
    const { id: call_id, name } = call;
    return {
      type: 'function_call',
      id: `fc_${call_id}`,
      call_id,
      name,
      arguments: argumentsOf(call),
      status: 'completed',
    };
  });
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  return {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    output: said === undefined ? calls : [message],
    usage,
  };
}

function completionOf(turn: ModelTurn): object {
  const tool_calls = (typeof turn === 'string' ? [] : turn).map((call) => {
    return { id: call.id, type: 'function', function: { name: call.name, arguments: argumentsOf(call) } };
  });
  const message =
    typeof turn === 'string' ? { role: 'assistant', content: turn } : { role: 'assistant', content: null, tool_calls };
  return { id: 'chat_1', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] };
}

/** The SDK's own models, before an endpoint that checks what they send as OpenAI's APIs do. */
export async function apiModel(
  api: 'responses' | 'chat',
  turns: readonly ModelTurn[],
): Promise<{ endpoint: ScriptedApi; model: Model }> {
  const script = turns.map(api === 'responses' ? responseOf : completionOf);
  const endpoint = await new ScriptedApi({ faults: openaiFaults, turns: script }).start();
  const client = new OpenAI({ apiKey: 'test', baseURL: endpoint.url, maxRetries: 0 });
  const ModelOfApi = api === 'responses' ? OpenAIResponsesModel : OpenAIChatCompletionsModel;
  return { endpoint, model: new ModelOfApi(client, 'm') };
}
