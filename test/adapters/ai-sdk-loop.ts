import * as ai6 from 'ai';
import * as ai5 from 'ai-5';
import { MockLanguageModelV2 } from 'ai-5/test';
import { MockLanguageModelV3 } from 'ai/test';
import type { ToolRegistry } from 'mcp-toolset';
import { aiSdkTools, type AiSdkToolOptions } from 'mcp-toolset/ai-sdk';

/** A call as a model writes it: its arguments are JSON, or are meant to be. */
export interface WrittenCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** What a model says in one step: a text, or calls. */
export type ModelTurn = string | readonly WrittenCall[];

/** A tool's result as a model is sent it. */
export interface SentResult {
  readonly toolCallId: string;
  readonly output: { readonly type: string; readonly value: unknown };
}

type Tools = ReturnType<typeof aiSdkTools>;

/** A conversation with a scripted model. */
export interface Loop {
  readonly tools: ToolRegistry;
  readonly turns: readonly ModelTurn[];
  readonly options?: AiSdkToolOptions;
  /** The tools of another conversation, to go on with. */
  readonly set?: Tools;
  readonly abortSignal?: AbortSignal;
  readonly maxSteps?: number;
  /** Why the model says that it stopped after calls. Default: for their results. */
  readonly finishReason?: string;
}

/** A mock model, as far as the tests look. */
interface Model {
  readonly doGenerateCalls: readonly ModelRequest[];
  readonly doStreamCalls: readonly ModelRequest[];
}

interface ModelRequest {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly name: string; readonly inputSchema: Record<string, unknown> }[];
}

/** One major version of the AI SDK, with its own mock model. */
export interface AiMajor {
  readonly title: string;
  /** The parts in which media go to its models. */
  readonly mediaTypes: readonly string[];
  /** Its functions, in the words of version 6. */
  readonly ai: typeof ai6;
  readonly model: (turns: readonly ModelTurn[], finishReason?: string) => Model;
}

interface Words {
  readonly usage: object;
  readonly finish: (reason: string) => unknown;
}

const WORDS_5: Words = { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }, finish: (reason) => reason };
const WORDS_6: Words = {
  usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
  finish: (unified) => ({ unified, raw: unified }),
};

function contentOf(turn: ModelTurn): object[] {
  if (typeof turn === 'string') return [{ type: 'text', text: turn }];
  return turn.map(({ id: toolCallId, name: toolName, input: given }) => {
    const input = typeof given === 'string' ? given : JSON.stringify(given);
    return { type: 'tool-call', toolCallId, toolName, input };
  });
}

/** What both mock models are made of; a turn that is not there is the end of the script. */
function script(turns: readonly ModelTurn[], { usage, finish }: Words, afterCalls = 'tool-calls'): object {
  const left = [...turns];
  const next = (): { content: object[]; finishReason: unknown } => {
    const turn = left.shift();
    if (turn === undefined) throw new Error('The model was asked more often than the script says.');
    return { content: contentOf(turn), finishReason: finish(typeof turn === 'string' ? 'stop' : afterCalls) };
  };
  return {
    doGenerate: async () => ({ ...next(), usage, warnings: [] }),
    doStream: async () => {
      const { content, finishReason } = next();
      const chunks = content.flatMap((part) => {
        if (!('text' in part)) return [part];
        const id = '1';
        return [
          { type: 'text-start', id },
          { type: 'text-delta', id, delta: part.text },
          { type: 'text-end', id },
        ];
      });
      const start = { type: 'stream-start', warnings: [] };
      return { stream: ReadableStream.from([start, ...chunks, { type: 'finish', finishReason, usage }]) };
    },
  };
}

export const majors: readonly AiMajor[] = [
  {
    title: 'ai 5',
    mediaTypes: ['media'],
    ai: ai5 as unknown as typeof ai6,
    model: (turns, reason) => new MockLanguageModelV2(script(turns, WORDS_5, reason)) as unknown as Model,
  },
  {
    title: 'ai 6',
    mediaTypes: ['image-data', 'file-data'],
    ai: ai6,
    model: (turns, reason) => new MockLanguageModelV3(script(turns, WORDS_6, reason)) as unknown as Model,
  },
];

/** What came of a conversation. */
export interface Outcome {
  readonly text: string;
  readonly requests: readonly ModelRequest[];
  readonly steps: readonly ai6.StepResult<Tools>[];
}

function settings({ ai, model }: AiMajor, loop: Loop): { mock: Model; given: Parameters<typeof ai6.generateText>[0] } {
  const mock = model(loop.turns, loop.finishReason);
  const stopWhen = ai.stepCountIs(loop.maxSteps ?? 10);
  const tools = loop.set ?? aiSdkTools(loop.tools, loop.options);
  const given = {
    model: mock as never,
    prompt: 'Go.',
    tools,
    stopWhen,
    ...(loop.abortSignal && { abortSignal: loop.abortSignal }),
  };
  return { mock, given };
}

/** `generateText` until the script ends; what it sends is checked against the SDK's own schema of messages. */
export async function generate(major: AiMajor, loop: Loop): Promise<Outcome> {
  const { mock, given } = settings(major, loop);
  const { text, steps, response } = await major.ai.generateText(given);
  for (const message of response.messages) major.ai.modelMessageSchema.parse(message);
  return { text, steps, requests: mock.doGenerateCalls };
}

/** `streamText` until the script ends: its parts, and the errors that it reports. */
export async function stream(
  major: AiMajor,
  loop: Loop,
): Promise<{ text: string; parts: ai6.TextStreamPart<Tools>[]; errors: unknown[]; requests: readonly ModelRequest[] }> {
  const { mock, given } = settings(major, loop);
  const errors: unknown[] = [];
  const result = major.ai.streamText({
    ...(given as Parameters<typeof ai6.streamText>[0]),
    onError: ({ error }) => void errors.push(error),
  });
  const parts: ai6.TextStreamPart<Tools>[] = [];
  for await (const part of result.fullStream) parts.push(part);
  return { text: await result.text, parts, errors, requests: mock.doStreamCalls };
}

/** The results of tools in the last request. */
export function lastResults(requests: readonly ModelRequest[]): SentResult[] {
  const last = requests.at(-1)?.prompt.at(-1);
  return last?.role === 'tool' ? (last.content as SentResult[]) : [];
}

type Part = { readonly type: string; readonly text?: string; readonly mediaType?: string };

const partsOf = ({ output }: SentResult): readonly Part[] =>
  output.type === 'content' ? (output.value as Part[]) : [];

/** The text of a result that a model is sent. */
export function textOf(result: SentResult): string {
  const { type, value } = result.output;
  if (type !== 'content') return value as string;
  return partsOf(result)
    .flatMap(({ text }) => text ?? [])
    .join('\n');
}

/** The texts of a result that have nothing to see, which some providers refuse. */
export function blankTexts(result: SentResult): string[] {
  const texts = result.output.type === 'content' ? partsOf(result).flatMap(({ text }) => text ?? []) : [textOf(result)];
  return texts.filter((text) => text.trim() === '');
}

/** The media of a result that a model is sent; a part that the version does not know is named by its type. */
export function mediaOf(result: SentResult, { mediaTypes }: AiMajor): string[] {
  const files = partsOf(result).filter(({ type }) => type !== 'text');
  return files.map(({ type, mediaType }) => (mediaTypes.includes(type) ? (mediaType ?? '') : `a part ${type}`));
}
