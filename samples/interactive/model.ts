import type { SamplingAnswer, SamplingRequest } from 'mcp-toolset';

/** Stands in for a model: an application calls its own here, with the signal. */
export async function complete(
  messages: SamplingRequest['messages'],
  { maxTokens, signal }: { readonly maxTokens: number; readonly signal: AbortSignal },
): Promise<SamplingAnswer> {
  signal.throwIfAborted();
  const text = `An answer to ${messages.length} message, of at most ${maxTokens} tokens.`;
  return Promise.resolve({
    role: 'assistant',
    model: 'stand-in',
    content: { type: 'text', text },
    stopReason: 'endTurn',
  });
}
