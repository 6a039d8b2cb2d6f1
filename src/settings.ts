import type { DependencyContainer } from 'tsyringe';
import { z } from 'zod/v4';
import { callable, checkOptions, count, defined, milliseconds } from './options';

/** Where the library's warnings go. `console` fits, and so do pino and winston. */
export interface Logger {
  debug(message: string, details?: unknown): void;
  warn(message: string, details?: unknown): void;
  error(message: string, details?: unknown): void;
}

/** Bounds on what a server may send; each breach is a `ProtocolError`, a visible omission (media) or a refusal (requests). */
export interface Limits {
  /** Tools in one catalog. Default 1,000. */
  readonly maxTools: number;
  /** Pages of one catalog. Default 100. */
  readonly maxPages: number;
  /** Nesting of a schema, its root being depth 1. Default 128. */
  readonly maxSchemaDepth: number;
  /** Objects and arrays in all schemas of one catalog. Default 100,000. */
  readonly maxSchemaNodes: number;
  /** Bytes of one pagination cursor. Default 16 KiB. */
  readonly maxCursorBytes: number;
  /** Image, audio and blob blocks of one result that become artifacts. Default 20. */
  readonly maxMediaBlocks: number;
  /** Decoded bytes of one such block. Default 16 MiB. */
  readonly maxMediaBytes: number;
  /** Decoded bytes of all such blocks of one result. Default 64 MiB. */
  readonly maxTotalMediaBytes: number;
  /** Requests of a server that one session answers at once; more are refused. Default 20. */
  readonly maxServerRequests: number;
}

/** Some of the limits. */
export type LimitOptions = { readonly [Limit in keyof Limits]?: number | undefined };

/** Defaults for every toolset that is used from a container or one of its children. */
export interface McpToolsetSettings {
  /** What the library's own clients call themselves (MCP specification, Lifecycle, `clientInfo`). */
  readonly clientInfo: { readonly name: string; readonly version: string; readonly title?: string | undefined };
  /** Bounds on what servers may send. */
  readonly limits: Limits;
  /** Time for one request in milliseconds. Default 60,000. */
  readonly timeout: number;
  /** Where warnings and errors go. Default: the console, without `debug`. */
  readonly logger: Logger;
}

/** What `configureMcpToolset` takes; what is left out keeps its value. */
export interface McpToolsetConfiguration {
  readonly clientInfo?: McpToolsetSettings['clientInfo'] | undefined;
  readonly limits?: LimitOptions | undefined;
  readonly timeout?: number | undefined;
  readonly logger?: Logger | undefined;
}

const SETTINGS = Symbol('mcp-toolset/settings');

const consoleLogger: Logger = {
  debug: () => undefined,
  warn: (message, details) => (details === undefined ? console.warn(message) : console.warn(message, details)),
  error: (message, details) => (details === undefined ? console.error(message) : console.error(message, details)),
};

const DEFAULTS: McpToolsetSettings = Object.freeze({
  clientInfo: Object.freeze({ name: 'mcp-toolset', version: '0.1.0' }),
  limits: Object.freeze({
    maxTools: 1_000,
    maxPages: 100,
    maxSchemaDepth: 128,
    maxSchemaNodes: 100_000,
    maxCursorBytes: 16 * 1024,
    maxMediaBlocks: 20,
    maxMediaBytes: 16 * 1024 * 1024,
    maxTotalMediaBytes: 64 * 1024 * 1024,
    maxServerRequests: 20,
  }),
  timeout: 60_000,
  logger: consoleLogger,
});

/** Checks a `limits` option. */
export const limitsSchema = z.strictObject({
  maxTools: count.optional(),
  maxPages: count.optional(),
  maxSchemaDepth: count.optional(),
  maxSchemaNodes: count.optional(),
  maxCursorBytes: count.optional(),
  maxMediaBlocks: count.optional(),
  maxMediaBytes: count.optional(),
  maxTotalMediaBytes: count.optional(),
  maxServerRequests: count.optional(),
});

const configurationSchema = z.strictObject({
  clientInfo: z
    .looseObject({ name: z.string().min(1), version: z.string().min(1), title: z.string().optional() })
    .optional(),
  limits: limitsSchema.optional(),
  timeout: milliseconds.optional(),
  logger: z
    .custom<Logger>(
      (value) => ['debug', 'warn', 'error'].every((name) => callable.safeParse(methodOf(value, name)).success),
      { error: 'expected an object with the methods debug, warn and error' },
    )
    .optional(),
});

function methodOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/**
 * Sets defaults for the toolsets that are used from `container` or one of its children. Calling it again changes only
 * the options that are given; a child starts from what its parents have at that moment.
 * @throws ConfigurationError for an unknown option or a value of the wrong type
 */
export function configureMcpToolset(container: DependencyContainer, options: McpToolsetConfiguration): void {
  checkOptions(configurationSchema, options, { where: 'configureMcpToolset' });
  const current = settingsOf(container);
  const settings: McpToolsetSettings = Object.freeze({
    clientInfo: options.clientInfo ?? current.clientInfo,
    limits: mergeLimits(current.limits, options.limits),
    timeout: options.timeout ?? current.timeout,
    logger: options.logger ?? current.logger,
  });
  container.register(SETTINGS, { useValue: settings });
}

/** The settings in force for a container. */
export function settingsOf(container: DependencyContainer): McpToolsetSettings {
  return container.isRegistered(SETTINGS, true) ? container.resolve<McpToolsetSettings>(SETTINGS) : DEFAULTS;
}

/** `base` with the limits of `changes` that are set. */
export function mergeLimits(base: Limits, changes: LimitOptions | undefined): Limits {
  return Object.freeze({ ...base, ...(defined(changes) as Partial<Limits>) });
}
