import type { Abortable, Interruption } from '../run/abort';
import type { ToolBinding } from './tool-binding';

/** What a tool is told about the call that it answers. */
export interface ToolCallContext {
  readonly binding: ToolBinding;
  /** Aborts when the run or this call is cancelled, or the run's deadline passes. */
  readonly signal: AbortSignal;
  /** The id that the model gave the call. */
  readonly callId: string | undefined;
}

/** Where the context of a call holds what may end it early. A copy of the context has it not, and may have a signal of its own. */
const ENDING = Symbol('mcp-toolset/ending');

interface OwnContext extends ToolCallContext {
  readonly [ENDING]: Interruption;
}

const SIGNAL: PropertyDescriptor & ThisType<OwnContext> = {
  enumerable: true,
  get() {
    return this[ENDING].signal;
  },
};

/** The context of a call, whose signal is made when somebody asks for it. */
export function callContext(
  parts: Pick<ToolCallContext, 'binding' | 'callId'> & { readonly ending: Interruption },
): ToolCallContext {
  const { binding, callId, ending } = parts;
  const context = { binding, callId };
  Object.defineProperty(context, ENDING, { value: ending });
  return Object.defineProperty(context, 'signal', SIGNAL) as OwnContext;
}

/** What may end a call early, by its context. */
export function endingOf(context: ToolCallContext): Abortable {
  return Object.hasOwn(context, ENDING) ? (context as OwnContext)[ENDING] : context.signal;
}
