import 'reflect-metadata';
import type { ConnectOptions } from './client-source';
import type { ToolsetOptions } from './options';

/** The handlers of what a server asks and tells. */
export const HANDLER_ROLES = [
  'onElicitation',
  'onSampling',
  'listRoots',
  'onProgress',
  'onLog',
  'onToolsChanged',
] as const;

/** A part that a handler can play. */
export type HandlerRole = (typeof HANDLER_ROLES)[number];

/** The parts that a decorated method can play. */
export type MethodRole = 'createClient' | 'mapTool' | 'mapResult' | 'onError' | HandlerRole;

/** A decorated method, as it was written down. */
export interface DecoratedMethod {
  readonly method: string | symbol;
  readonly connectOptions?: ConnectOptions;
}

/** What the decorators wrote down about one class, without its parents'. */
export interface ClassMetadata {
  /** Set where the class itself is marked `@McpToolset`. */
  readonly options?: ToolsetOptions;
  readonly methods: Readonly<Partial<Record<MethodRole, DecoratedMethod>>>;
}

/** A class, as a key for its metadata. */
export type AnyClass = abstract new (...args: never[]) => object;

const KEY = Symbol.for('mcp-toolset/metadata');
const NOTHING: ClassMetadata = { methods: {} };

/** What is written down about this very class. */
export function ownMetadata(target: AnyClass): ClassMetadata {
  return (Reflect.getOwnMetadata(KEY, target) as ClassMetadata | undefined) ?? NOTHING;
}

/** Adds to what is written down about this very class. */
export function writeMetadata(target: AnyClass, addition: Partial<ClassMetadata>): void {
  const own = ownMetadata(target);
  Reflect.defineMetadata(
    KEY,
    { ...own, ...addition, methods: { ...own.methods, ...addition.methods } } satisfies ClassMetadata,
    target,
  );
}
