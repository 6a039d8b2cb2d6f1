import type { Abortable } from '../run/abort';
import type { ToolBinding } from '../tool/tool-binding';
import type { UnconnectedClient } from '../toolset/client-source';
import type { ToolsetDefinition } from '../toolset/definition';
import type { CallDescription } from './active-calls';
import type { RequestParams } from './exchange';
import type { Handlers } from './handlers';
import type { WarmSource } from './warm-sessions';

/** What a session is made from. */
export interface SessionParts {
  readonly definition: ToolsetDefinition;
  readonly binding: ToolBinding;
  /** Time for one request in milliseconds, where neither connection nor toolset says so. */
  readonly timeout: number;
  /** Builds a new unconnected client. */
  readonly create: () => Promise<UnconnectedClient>;
  /** What the server asks and tells. */
  readonly handlers: Handlers;
  /** Where connected sessions come from and are left for the next run, if they outlive runs. */
  readonly warm?: WarmSource | undefined;
  /** Lets the next discovery open a session of its own. */
  readonly onForget?: (() => void) | undefined;
}

/** A request of a session. */
export interface SessionRequest {
  readonly method: string;
  readonly params: RequestParams;
  /** Gives the request up when it aborts. */
  readonly signal?: Abortable | undefined;
  /** The call of a tool that the request is. */
  readonly call?: CallDescription;
}
