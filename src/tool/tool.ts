import { AsyncLocalStorage } from 'node:async_hooks';
import { ConfigurationError } from '../errors';
import { untilAborted } from '../run/abort';
import { Attached } from '../run/attached';
import { Turnstile } from '../run/turnstile';
import { callOf, contextOf, type Call, type ToolCallContext } from './call-context';
import { checkDeclaration } from './declaration';
import { execute, type ToolInput } from './execute';
import type { ToolExecution } from './execution';
import { inputCheck } from './input-schema';
import type { JsonSchema } from './json-schema';
import type { ToolBinding } from './tool-binding';
import { UNBOUND } from './tool-binding';

/** Options of one execution. */
export interface ExecuteOptions {
  /** Cancels this call alone. */
  readonly signal?: AbortSignal | undefined;
  /** The id that the model gave the call. */
  readonly callId?: string | undefined;
  /** What the call may reach. Default: what the tool is bound to. */
  readonly binding?: ToolBinding | undefined;
}

/** What a model is told about a tool. */
export interface ToolSpecification {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

/** A tool that can be called, as a class that is not abstract makes it; such a class can be extended as it is. */
export type ConcreteTool = Tool & { call(input: Record<string, unknown>, context: ToolCallContext): unknown };

/** A class of tools, as an application passes it around. */
export type ToolClass = Pick<typeof Tool, 'toolName' | 'description' | 'inputSchema' | 'exclusive' | 'availableIf'> &
  (new (...args: never[]) => ConcreteTool);

/** What `Tool.define` takes. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly exclusive?: boolean | undefined;
  readonly availableIf?: ((binding: ToolBinding) => boolean | Promise<boolean>) | undefined;
  // A method, not a property: so it may declare the input that its schema describes, as a method of a class may.
  call(input: Record<string, unknown>, context: ToolCallContext): unknown;
}

const bindings = new Attached<Tool, ToolBinding>();
const turnstiles = new Attached<object, Turnstile>();

/** Something that a model can call. Subclasses set the statics and implement `call`. */
export abstract class Tool {
  /** The name that the model sees: 1 to 64 of the characters a-z, A-Z, 0-9, `_` and `-`. */
  static toolName: string;
  /** What the model is told that the tool does. */
  static description: string;
  /** JSON Schema of the input, 2020-12 unless its `$schema` says otherwise. */
  static inputSchema: JsonSchema;
  /** Whether calls must not overlap with those of other exclusive tools of the run. Default false. */
  static exclusive = false;
  /** Decides whether the tool is offered; a tool without it always is. */
  static availableIf?: ((binding: ToolBinding) => boolean | Promise<boolean>) | undefined;

  /** What the tool may reach. */
  get binding(): ToolBinding {
    return bindings.get(this) ?? UNBOUND;
  }

  /** What a model is told about the tool. */
  get specification(): ToolSpecification {
    const { toolName, description, inputSchema } = this.constructor as typeof Tool;
    return Object.freeze({ name: toolName, description, inputSchema });
  }

  /**
   * Does the work: returns any value or a `ToolResult`, sync or async.
   * @throws ToolError with a message for the model; of any other error the model sees the class name
   */
  abstract call(input: Record<string, unknown>, context: ToolCallContext): unknown;

  /**
   * Calls the tool and tells how it went; input that is null or undefined is `{}`.
   * @throws CancelledError, DeadlineExceededError or CleanupError; every other failure becomes an error execution
   */
  async execute(input?: unknown, options: ExecuteOptions = {}): Promise<ToolExecution> {
    const { callId, signal } = options;
    const binding = options.binding ?? this.binding;
    const carryOut = (checked: ToolInput, call: Call): unknown =>
      untilAborted(Promise.resolve(inTurn(this, checked, contextOf(call))), call.ending);
    return execute({ input, binding, callId, signal, faultOf: (given) => inputFault(this, given), carryOut });
  }

  /** Frees what the tool holds; its registry calls it when it closes. */
  close(): void | Promise<void> {
    return undefined;
  }

  /**
   * A tool class from a function.
   * @throws ConfigurationError when name, description, schema or function are missing or wrong
   */
  static define(definition: ToolDefinition): ToolClass & (new () => ConcreteTool) {
    const { name, description, inputSchema, exclusive, availableIf } = definition;
    const where = `Tool.define(${JSON.stringify(name)})`;
    checkDeclaration({ name, description, inputSchema }, { where, nameLabel: 'name' });
    if (typeof definition.call !== 'function') {
      throw new ConfigurationError(`${where}: expected "call" to be a function.`);
    }
    class DefinedTool extends Tool {
      static override readonly toolName = name;
      static override readonly description = description;
      static override readonly inputSchema = inputSchema;
      static override readonly exclusive = exclusive ?? false;
      static override readonly availableIf = availableIf;

      override call(input: Record<string, unknown>, context: ToolCallContext): unknown {
        return definition.call(input, context);
      }
    }
    Object.defineProperty(DefinedTool, 'name', { value: where });
    return DefinedTool;
  }
}

const unchecked = new WeakSet<Tool>();

/** Leaves the input of a tool to whoever carries the call out. */
export function leaveInputUnchecked(tool: Tool): void {
  unchecked.add(tool);
}

function inputFault(tool: Tool, input: ToolInput): string | undefined {
  if (unchecked.has(tool)) return undefined;
  const { name, inputSchema } = tool.specification;
  const faults = inputCheck(inputSchema, name)(input);
  return faults.length > 0 ? `${faults.join('; ')}.` : undefined;
}

function inTurn(tool: Tool, input: ToolInput, context: ToolCallContext): unknown {
  const { exclusive } = tool.constructor as typeof Tool;
  return exclusive ? exclusively(tool, input, context) : tool.call(input, context);
}

async function exclusively(tool: Tool, input: ToolInput, context: ToolCallContext): Promise<unknown> {
  const turn = await turnOf(tool, context);
  const work = async (): Promise<unknown> => {
    callOf(context).ending.throwIfAborted();
    return tool.call(input, context);
  };
  return currentTurn.run(turn, work).finally(turn.end);
}

/** The turn of an exclusive call. */
interface Turn {
  readonly turnstile: Turnstile;
  isOver: boolean;
  readonly end: () => void;
}

/** The turn that the current code runs in. */
const currentTurn = new AsyncLocalStorage<Turn>();

async function turnOf(tool: Tool, context: ToolCallContext): Promise<Turn> {
  const turnstile = exclusiveTurnstile(context.binding);
  const outer = currentTurn.getStore();
  if (outer?.turnstile === turnstile && !outer.isOver) {
    throw new ConfigurationError(
      `Tool ${tool.specification.name} is exclusive, and was called from within an exclusive tool of the same run, for ` +
        'whose end it would have to wait.',
    );
  }
  const leave = await turnstile.enter(callOf(context).ending);
  const turn: Turn = {
    turnstile,
    isOver: false,
    end: () => {
      turn.isOver = true;
      leave();
    },
  };
  return turn;
}

/**
 * Binds a tool for good.
 * @throws ConfigurationError when it is bound to something else: a singleton would serve two runs
 */
export function bindTool(tool: Tool, binding: ToolBinding): void {
  const bound = bindings.of(tool, () => binding);
  if (bound.run !== binding.run) {
    throw new ConfigurationError(
      `Tool ${tool.constructor.name}: one instance was resolved for two runs. Tools are made per run: ` +
        'do not register the class as a singleton.',
    );
  }
}

function exclusiveTurnstile(binding: ToolBinding): Turnstile {
  return turnstiles.of(binding.run ?? binding, () => new Turnstile());
}
