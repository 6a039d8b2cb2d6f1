/** `npm run sample:ai-sdk`: the AI SDK calls the tools of an MCP server. Without AI_GATEWAY_API_KEY a script plays the model. */
import 'reflect-metadata';
import { generateText, stepCountIs, type LanguageModel } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { container } from 'tsyringe';
import { RunFactory, ToolRegistry } from 'mcp-toolset';
import { aiSdkTools, type AiSdkToolOutput } from 'mcp-toolset/ai-sdk';
import { DemoTools } from './tools';

const { AI_GATEWAY_API_KEY, AI_GATEWAY_MODEL = 'anthropic/claude-sonnet-4.5' } = process.env;

async function answer(model: LanguageModel, prompt: string): Promise<void> {
  await using run = container.resolve(RunFactory).start({ actorId: 'ada', timeout: 120_000 });
  const registry = run.resolve(ToolRegistry);
  await registry.register(DemoTools);
  const { text } = await generateText({
    model,
    prompt,
    tools: aiSdkTools(registry),
    abortSignal: run.signal,
    stopWhen: stepCountIs(10),
    onStepFinish: ({ content }) => {
      for (const part of content) {
        if (part.type === 'tool-call') console.log(`→ ${part.toolName} ${JSON.stringify(part.input)}`);
        if (part.type === 'tool-result') console.log('✓', show(part.output as AiSdkToolOutput));
        if (part.type === 'tool-error') console.log('✗', String(part.error));
      }
    },
  });
  console.log(text);
}

function show({ text, files }: AiSdkToolOutput): string {
  return [text, ...files.map(({ kind }) => `[${kind}]`)].join(' ');
}

/** Says two things, whatever it is asked. No model is behind it; the calls that it asks for are carried out for real. */
function script(): LanguageModel {
  const usage = {
    inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 0, text: 0, reasoning: 0 },
  };
  const call = (toolCallId: string, toolName: string, input: object) => {
    return { type: 'tool-call' as const, toolCallId, toolName, input: JSON.stringify(input) };
  };
  const calls = [call('call_1', 'get-sum', { a: 19, b: 23 }), call('call_2', 'get-tiny-image', {})];
  const text = { type: 'text' as const, text: 'It is 42, and the image has arrived.' };
  const said = (content: (typeof text)[] | typeof calls, unified: 'stop' | 'tool-calls') => {
    return { content, finishReason: { unified, raw: unified }, usage, warnings: [] };
  };
  console.log('No key is set: a script plays the model.\n');
  return new MockLanguageModelV3({ doGenerate: [said(calls, 'tool-calls'), said([text], 'stop')] });
}

answer(
  AI_GATEWAY_API_KEY ? AI_GATEWAY_MODEL : script(),
  'What is 19 + 23, and what does the tiny image show? Use your tools.',
).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
