import { z } from 'zod/v4';
import { callable, count, milliseconds } from '../options';
import { limitsSchema, type LimitOptions } from '../settings';
import type { ToolBinding } from '../tool/tool-binding';
import type { Awaitable, ConnectionSource } from './client-source';

/** Which of the server's tools are offered, by wire name, and a prefix for the names that the model sees. */
export interface ToolSelection {
  /** Only these. Default: all. */
  readonly include?: readonly string[] | undefined;
  /** All but these. */
  readonly exclude?: readonly string[] | undefined;
  /** Put before every name that the model sees. */
  readonly prefix?: string | undefined;
}

/** How long-running tools are called (MCP specification, Tasks): those that require it are always called as tasks. */
export interface TaskOptions {
  /** Whether tools that may be called as tasks are too. Default false. */
  readonly optional?: boolean | undefined;
  /** How long the server is asked to keep a task, in milliseconds from when it was made. Default: as it likes. */
  readonly ttl?: number | undefined;
}

/** How runs share what a server lists (see `CatalogStore`). */
export interface CatalogOptions {
  /** How long a catalog is good for, in milliseconds. */
  readonly ttl: number;
  /**
   * Whose catalog it is: runs with the same key share one. Needed where the connection depends on the binding; otherwise
   * there is one for all. Nothing, or an empty key, is a ConfigurationError.
   */
  readonly key?: ((binding: ToolBinding) => Awaitable<string | undefined>) | undefined;
}

/** How sessions outlive the runs that they serve. */
export interface SessionOptions {
  /** A session belongs to the application and is lent to one run after the other. */
  readonly scope: 'application';
  /**
   * Whose session it is: only runs with the same key are lent it, so the key has to name whoever's credentials it has.
   * Nothing, or an empty key, is a ConfigurationError.
   */
  readonly key: (binding: ToolBinding) => Awaitable<string | undefined>;
  /** How long a session may wait for its next run before it is closed, in milliseconds. Default 60,000. */
  readonly idleTimeout?: number | undefined;
  /** How many sessions of the toolset may wait; the one that has waited longest is closed. Default 100. */
  readonly max?: number | undefined;
}

/** Options of `@McpToolset`. */
export interface ToolsetOptions {
  /** How errors and warnings name the toolset. Default: the class name. */
  readonly name?: string | undefined;
  /** How the server is reached; leave it out where a method marked `@CreateClient` builds the client. */
  readonly connection?: ConnectionSource | undefined;
  /** Whether a server that is down or broken means no tools instead of an error. Default false. */
  readonly optional?: boolean | undefined;
  /** Time for one request in milliseconds. Default: the configured one, 60,000. */
  readonly timeout?: number | undefined;
  /** Bounds on what the server may send, in place of the configured ones. */
  readonly limits?: LimitOptions | undefined;
  /** Whether calls of one session wait for each other. Default: `serial` over stdio, else `overlapping`. */
  readonly calls?: 'serial' | 'overlapping' | undefined;
  /** Which tools are offered. Default: all. */
  readonly tools?: ToolSelection | undefined;
  /** Lets runs share the server's catalog, and connect only when they call. Default: every run asks for its own. */
  readonly catalog?: CatalogOptions | undefined;
  /** Keeps connected sessions for the next run. Default: every run has sessions of its own, which end with it. */
  readonly session?: SessionOptions | undefined;
  /** How long-running tools are called. */
  readonly tasks?: TaskOptions | undefined;
}

const wireNames = z.array(z.string({ error: 'expected a tool name' }), { error: 'expected an array of tool names' });

/** Checks the options of `@McpToolset`. */
export const toolsetOptionsSchema: z.ZodType<ToolsetOptions> = z.strictObject({
  name: z.string().min(1, { error: 'expected a name that is not empty' }).optional(),
  connection: z
    .custom<ConnectionSource>(
      (value) => callable.safeParse(value).success || (typeof value === 'object' && value !== null),
      {
        error: 'expected connection options, or a function that returns them',
      },
    )
    .optional(),
  optional: z.boolean().optional(),
  timeout: milliseconds.optional(),
  limits: limitsSchema.optional(),
  calls: z.enum(['serial', 'overlapping']).optional(),
  catalog: z.strictObject({ ttl: milliseconds, key: callable.optional() }).optional() as z.ZodType<CatalogOptions>,
  session: z
    .strictObject({
      scope: z.literal('application'),
      key: callable,
      idleTimeout: milliseconds.optional(),
      max: count.optional(),
    })
    .optional() as unknown as z.ZodType<SessionOptions>,
  tasks: z.strictObject({ optional: z.boolean().optional(), ttl: milliseconds.optional() }).optional(),
  tools: z
    .strictObject({
      include: wireNames.optional(),
      exclude: wireNames.optional(),
      prefix: z
        .string()
        .regex(/^[a-zA-Z0-9_-]*$/, { error: 'expected only a-z, A-Z, 0-9, _ and -' })
        .optional(),
    })
    .optional(),
});
