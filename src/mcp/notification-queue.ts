import { messageOf } from '../errors';
import type { Logger } from '../settings';

const MOST_WAITING = 1_000;

/** Hands notifications to an application one after the other; of a flood, the oldest that wait are dropped. */
export class NotificationQueue {
  private waiting: (() => unknown)[] = [];
  private isRunning = false;
  private isClosed = false;
  private hasWarned = false;

  constructor(
    private readonly toolset: string,
    private readonly logger: Logger,
  ) {}

  /** Delivers after everything that waits. */
  push(deliver: () => unknown): void {
    if (this.isClosed) return;
    this.waiting.push(deliver);
    if (this.waiting.length > MOST_WAITING) this.drop();
    if (!this.isRunning) void this.run();
  }

  /** Delivers nothing any more. */
  close(): void {
    this.isClosed = true;
    this.waiting = [];
  }

  private drop(): void {
    this.waiting.shift();
    if (this.hasWarned) return;
    this.hasWarned = true;
    this.logger.warn(
      `Toolset ${this.toolset}: more than ${MOST_WAITING} notifications of the server wait for their handlers; the oldest ` +
        'are dropped.',
    );
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    for (let deliver = this.waiting.shift(); deliver; deliver = this.waiting.shift()) {
      try {
        await deliver();
      } catch (error) {
        this.logger.error(`Toolset ${this.toolset}: a handler of notifications failed: ${messageOf(error)}`, error);
      }
    }
    this.isRunning = false;
  }
}
