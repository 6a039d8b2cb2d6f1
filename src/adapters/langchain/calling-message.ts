/** As much of a message as is read. */
interface StateMessage {
  readonly response_metadata?: unknown;
  readonly tool_calls?: unknown;
}

/** The messages of what an agent's node was given: messages, or an object that has them. */
export function messagesOf(state: unknown): readonly (StateMessage | null | undefined)[] {
  const found: unknown = Array.isArray(state) ? state : (state as { messages?: unknown } | null | undefined)?.messages;
  return (Array.isArray(found) ? found : []) as readonly StateMessage[];
}

/** The message that made the calls which are carried out now, where the state shows it. */
export function callingMessage(state: unknown): StateMessage | undefined {
  return messagesOf(state).findLast((message) => Array.isArray(message?.tool_calls)) ?? undefined;
}

/** Why a model may have stopped in the middle of a call, as the integrations hand it on. */
const UNFINISHED: ReadonlySet<unknown> = new Set([
  ...['max_tokens', 'model_context_window_exceeded', 'refusal'],
  ...['length', 'content_filter', 'incomplete'],
  ...['MAX_TOKENS', 'SAFETY'],
]);
const REASONS = ['stop_reason', 'stopReason', 'finish_reason', 'finishReason', 'status'];

/** Whether a call is the last of a message that the model could not finish. */
export function isCutOff(state: unknown, callId: string | undefined): boolean {
  const { tool_calls, response_metadata } = callingMessage(state) ?? {};
  const last = (Array.isArray(tool_calls) ? tool_calls : []).at(-1) as { readonly id?: unknown } | undefined;
  const metadata = Object(response_metadata) as Record<string, unknown>;
  return callId !== undefined && last?.id === callId && REASONS.some((key) => UNFINISHED.has(metadata[key]));
}
