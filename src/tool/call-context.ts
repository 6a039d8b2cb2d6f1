import type { Abortable, Interruption } from '../run/abort';
import type { Kept } from './execution';
import type { ToolBinding } from './tool-binding';

/** What a tool is told about the call that it answers. */
export interface ToolCallContext {
  readonly binding: ToolBinding;
  /** Aborts when the run or this call is cancelled, or the run's deadline passes. */
  readonly signal: AbortSignal;
  /** The id that the model gave the call. */
  readonly callId: string | undefined;
}

/** A call while it is carried out. */
export interface Call extends Omit<ToolCallContext, 'signal'> {
  /** What may end it early. */
  readonly ending: Abortable;
  /** What it has come to, whether or not something fails afterwards. */
  kept: Kept | undefined;
}

/** Where the context of a call holds that call. A copy of the context has it not, and may have a signal of its own. */
const CALL = Symbol('mcp-toolset/call');

interface OwnContext extends ToolCallContext {
  readonly [CALL]: Call & { readonly ending: Interruption };
}

const SIGNAL: PropertyDescriptor & ThisType<OwnContext> = {
  enumerable: true,
  get() {
    return this[CALL].ending.signal;
  },
};

/** The context of a call, whose signal is made when somebody asks for it. */
export function contextOf(call: Call): ToolCallContext {
  const { binding, callId } = call;
  const context = { binding, callId };
  Object.defineProperty(context, CALL, { value: call });
  return Object.defineProperty(context, 'signal', SIGNAL) as OwnContext;
}

/** The call that a context is of; an application may have made the context by itself. */
export function callOf(context: ToolCallContext): Call {
  if (Object.hasOwn(context, CALL)) return (context as OwnContext)[CALL];
  const { binding, callId, signal } = context;
  return { binding, callId, ending: signal, kept: undefined };
}
