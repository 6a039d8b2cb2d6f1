/** What is known about a failed call: whether the server may have carried it out. */
export type CallOutcome = 'not-sent' | 'refused' | 'completed' | 'unknown';

/** Options that every error of this library takes. */
export interface McpToolsetErrorOptions {
  /** The error or value that led to this one. */
  readonly cause?: unknown;
  /** Name of the toolset that the error is about. */
  readonly toolset?: string | undefined;
  /** For a failed call: whether the server may have carried it out. */
  readonly outcome?: CallOutcome | undefined;
}

const brand = (name: string): symbol => Symbol.for(`mcp-toolset/${name}`);

/** Root of all errors of this library. `is()` recognises an error that another copy of the package created. */
export class McpToolsetError extends Error {
  protected static readonly brand: symbol = brand('McpToolsetError');

  /** Stable identifier of the kind of error. */
  readonly code: string = 'mcp_toolset_error';
  /** Name of the toolset that the error is about, if there is one. */
  readonly toolset: string | undefined;
  /** For a failed call: whether the server may have carried it out. */
  readonly outcome: CallOutcome | undefined;

  constructor(message: string, options: McpToolsetErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    const own = Object.hasOwn(new.target, 'brand') ? new.target.brand.description?.split('/')[1] : undefined;
    // A bundler may rename classes; the library's own keep their names.
    this.name = own ?? new.target.name;
    this.toolset = options.toolset;
    this.outcome = options.outcome;
    for (let type: unknown = new.target; typeof type === 'function'; type = Object.getPrototypeOf(type)) {
      if (Object.hasOwn(type, 'brand')) {
        Object.defineProperty(this, (type as typeof McpToolsetError).brand, { value: true });
      }
    }
  }

  /** Whether `value` is an error of this class, created by this or by another copy of the package. */
  static is<T extends abstract new (...args: never[]) => McpToolsetError>(
    this: T,
    value: unknown,
  ): value is InstanceType<T> {
    if (typeof value !== 'object' || value === null) return false;
    const own = Object.getOwnPropertyDescriptor(this, 'brand')?.value as symbol | undefined;
    try {
      return value instanceof this || (own !== undefined && own in value);
    } catch {
      return false; // a proxy may refuse to be looked at
    }
  }
}

/** The application's declaration or use of the library is wrong. */
export class ConfigurationError extends McpToolsetError {
  protected static override readonly brand = brand('ConfigurationError');
  override readonly code: string = 'configuration_error';
}

/** The server could not be reached, answered with an error, closed the connection or was too slow. */
export class ProviderError extends McpToolsetError {
  protected static override readonly brand = brand('ProviderError');
  override readonly code: string = 'provider_error';
}

/**
 * The server wants the user's authorization (MCP specification, Authorization): send the user to `authorizationUrl`, then
 * call `completeAuthorization` with the code that comes back.
 */
export class AuthorizationRequiredError extends ProviderError {
  protected static override readonly brand = brand('AuthorizationRequiredError');
  override readonly code: string = 'authorization_required';
  /** Where the user authorizes. */
  readonly authorizationUrl: URL;

  constructor(message: string, options: McpToolsetErrorOptions & { readonly authorizationUrl: URL }) {
    super(message, options);
    this.authorizationUrl = options.authorizationUrl;
  }
}

/** What the server said breaks the protocol or a limit. */
export class ProtocolError extends McpToolsetError {
  protected static override readonly brand = brand('ProtocolError');
  override readonly code: string = 'protocol_error';
}

/** A tool failed; the message is meant for the model. */
export class ToolError extends McpToolsetError {
  protected static override readonly brand = brand('ToolError');
  override readonly code: string = 'tool_error';
}

/** The run or the call was cancelled; `cause` is the reason that its signal gave. */
export class CancelledError extends McpToolsetError {
  protected static override readonly brand = brand('CancelledError');
  override readonly code: string = 'cancelled';
}

/** The run's deadline has passed. */
export class DeadlineExceededError extends McpToolsetError {
  protected static override readonly brand = brand('DeadlineExceededError');
  override readonly code: string = 'deadline_exceeded';
}

/** Closing failed; `errors` holds every failure. */
export class CleanupError extends McpToolsetError {
  protected static override readonly brand = brand('CleanupError');
  override readonly code: string = 'cleanup_error';
  /** Every failure, in the order in which it happened. */
  readonly errors: readonly unknown[];

  constructor(message: string, options: McpToolsetErrorOptions & { readonly errors: readonly unknown[] }) {
    super(message, options);
    this.errors = Object.freeze([...options.errors]);
  }
}

/** The text of whatever was thrown; also an object that has none does not throw here. */
export function messageOf(error: unknown): string {
  try {
    if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message);
    return String(error);
  } catch {
    return `a thrown ${typeof error} without a text`;
  }
}

/** A property of whatever was thrown; undefined where it has none or does not let itself be looked at. */
export function traitOf(thrown: unknown, name: string): unknown {
  try {
    return (Object(thrown) as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined; // a getter or a proxy may throw
  }
}
