import { messageOf } from '../errors';
import { LONGEST_TIMER } from '../options';
import type { Logger } from '../settings';
import type { ToolsetDefinition } from '../toolset/definition';
import type { ReopeningLink } from './reopening-link';
import { enterRegistry, leaveRegistry, type OpenSession } from './session-registry';

const IDLE_TIMEOUT = 60_000;
const MOST_IDLE = 100;

/** A connection that a run leaves to the next one. */
export interface WarmConnection {
  readonly link: ReopeningLink;
  readonly openedAt: Date;
}

/** Where a run has a connected session from, and leaves it to the next run. */
export interface WarmSource {
  /** A connection that no run uses and that has not ended; whoever takes it owns it. */
  take(): WarmConnection | undefined;
  /** Keeps a connection for the next run with the same key. */
  keep(connection: WarmConnection): void;
}

/** A session that waits for its next run. */
class IdleSession implements OpenSession {
  readonly runId = undefined;
  readonly toolset: string;
  readonly openedAt: Date;
  private readonly timer: NodeJS.Timeout;

  constructor(
    readonly connection: WarmConnection,
    readonly key: string,
    private readonly waiting: {
      readonly in: IdleSession[];
      readonly definition: ToolsetDefinition;
      readonly logger: Logger;
    },
  ) {
    const { definition } = waiting;
    this.toolset = definition.name;
    this.openedAt = connection.openedAt;
    const idleTimeout = definition.session?.idleTimeout ?? IDLE_TIMEOUT;
    this.timer = setTimeout(() => this.discard(), Math.min(idleTimeout, LONGEST_TIMER)).unref();
    waiting.in.push(this);
    enterRegistry(this);
    connection.link.leave(() => this.discard());
  }

  /** Takes it out of those that wait; false where it was not there any more. */
  leaveOthers(): boolean {
    const place = this.waiting.in.indexOf(this);
    if (place < 0) return false;
    this.waiting.in.splice(place, 1);
    clearTimeout(this.timer);
    leaveRegistry(this);
    return true;
  }

  /** Closes it for good. */
  async close(): Promise<void> {
    if (this.leaveOthers()) await this.connection.link.close();
  }

  discard(): void {
    const { logger } = this.waiting;
    this.close().catch((error: unknown) =>
      logger.warn(`Toolset ${this.toolset}: an idle session could not be closed: ${messageOf(error)}`),
    );
  }
}

/** The sessions of an application that wait for their next run. */
export class WarmSessions {
  private readonly idle = new WeakMap<ToolsetDefinition, IdleSession[]>();

  /** The sessions of a toolset that wait under a key. */
  source(definition: ToolsetDefinition, key: string, logger: Logger): WarmSource {
    const waiting = this.idle.get(definition) ?? [];
    this.idle.set(definition, waiting);
    return {
      take: () => {
        const latest = waiting.findLast(({ key: own, connection }) => own === key && connection.link.isFree);
        latest?.leaveOthers();
        return latest?.connection;
      },
      keep: (connection) => {
        new IdleSession(connection, key, { in: waiting, definition, logger });
        if (waiting.length > (definition.session?.max ?? MOST_IDLE)) waiting[0]?.discard();
      },
    };
  }
}
