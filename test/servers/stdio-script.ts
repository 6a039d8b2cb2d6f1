import type { CallParams, JsonObject, RpcId } from './rpc';

/** What functions of a script get inside the child: the message that they answer, and the means to misbehave. */
export interface StdioExchange<D = unknown> {
  /** The JSON-RPC method, or `response`, `batch`, `invalid` (no JSON), or the name of an event. */
  readonly method: string;
  readonly message: unknown;
  /** The line as it was received. */
  readonly line: string;
  readonly params: JsonObject;
  readonly id: RpcId | undefined;
  /** The `data` of the script: one copy for each child, which its functions share and may change. */
  readonly data: D;
  /** Answers as if the script had no handler for this method. */
  polite(): Promise<void>;
  /** Sends a result under any id. */
  reply(id: RpcId | undefined, result: unknown): void;
  /** Sends a JSON-RPC error under any id. */
  error(id: RpcId | undefined, code: number, message: string, data?: unknown): void;
  notify(method: string, params?: JsonObject): void;
  /** Sends a request to the client; its answer arrives as `response`. */
  request(id: RpcId, method: string, params?: JsonObject): void;
  /** Reports progress under the token that the client gave with this message. */
  progress(progress: number, total?: number): void;
  /** Writes text to stdout as it is, with no newline added. */
  write(text: string): void;
  stderr(text: string): void;
  exit(code?: number): void;
  /** Dies by a signal, SIGKILL by default. */
  die(signal?: NodeJS.Signals): void;
  /** Never answers. */
  hang(): void;
  /** Starts a child of the child that keeps stdout open after its parent's end; returns its process id. */
  spawnGrandchild(): number;
  /** From now on SIGTERM is only recorded. */
  ignoreSigterm(): void;
  /** From now on the end of stdin is only recorded. */
  ignoreStdinEnd(): void;
}

/**
 * A function that runs inside the child. It is sent there as source text, so it must be self-contained: it may use its
 * parameters, the exchange's `data`, Node's globals and `require` of Node's own modules, but nothing of the
 * file that it was written in: no import, no variable, no other function.
 */
export type StdioHandler<D = unknown> = (exchange: StdioExchange<D>) => unknown;

/** How a scripted stdio server behaves; what is left out is polite. All functions are {@link StdioHandler}-like. */
export interface RawStdioScript<D = unknown> {
  /** Any JSON value that the functions find as `data`. */
  data?: D;
  /** The tools, or a function that returns one page: an array of tools, or the raw result (undefined: it answered). */
  tools?: readonly unknown[] | ((params: JsonObject, exchange: StdioExchange<D>) => unknown);
  /** Returns the raw result of a call (undefined: it answered). By default the arguments come back as text. */
  call?: (params: CallParams, exchange: StdioExchange<D>) => unknown;
  /** Fields that replace those of the polite `initialize` result. */
  initialize?: JsonObject;
  /** Handlers by JSON-RPC method, by `response`, `batch` or `invalid`, or by event: `start`, `end` or `SIGTERM`. */
  on?: Record<string, StdioHandler<D>>;
  ignoreSigterm?: boolean;
  ignoreStdinEnd?: boolean;
}

/** The script as JSON, its functions as source text. */
export function serialiseScript<D>(script: RawStdioScript<D>): JsonObject {
  const { tools, call, on = {}, ...rest } = script;
  return {
    ...rest,
    ...(typeof tools === 'function' ? { toolsSource: tools.toString() } : { tools }),
    ...(call && { callSource: call.toString() }),
    onSource: Object.fromEntries(Object.entries(on).map(([method, handler]) => [method, handler.toString()])),
  };
}
