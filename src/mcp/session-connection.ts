import { untilAborted, type Abortable } from '../run/abort';
import { ReopeningLink, type LinkSource } from './reopening-link';
import type { WarmSource } from './warm-sessions';

/** What the connection of a session is made from. */
export interface ConnectionParts {
  readonly source: LinkSource;
  /** Where connected sessions come from and are left for the next run, if they outlive runs. */
  readonly warm: WarmSource | undefined;
  /** Called when it has been made. */
  readonly onOpen: () => void;
}

/** The connection of a session, made when it is first needed, or taken over from a run that has ended. */
export class SessionConnection {
  /** When it was opened; before that, when the session was made. */
  openedAt = new Date();
  /** Whether requests can go through it. */
  isOpen = false;

  private current: ReopeningLink;
  private opening: Promise<void> | undefined;

  constructor(private readonly parts: ConnectionParts) {
    this.current = new ReopeningLink(parts.source);
  }

  /** What requests go through; before it is opened, there is nothing behind it. */
  get link(): ReopeningLink {
    return this.current;
  }

  /**
   * Opens it, once for all that need it; `phase` says what for. Where that fails, nothing stays open, and the next one
   * that needs it tries again.
   * @throws what `ReopeningLink#open` throws, and the signal's reason
   */
  async open(signal: Abortable, phase?: 'before'): Promise<void> {
    if (this.isOpen) return;
    this.opening ??= this.take(phase);
    await untilAborted(this.opening, signal);
  }

  /** Leaves it for the next run, if that may have it. */
  leave(): boolean {
    const { warm } = this.parts;
    if (!warm || !this.isOpen || !this.current.isFree) return false;
    warm.keep({ link: this.current, openedAt: this.openedAt });
    return true;
  }

  private async take(phase?: 'before'): Promise<void> {
    const { source, warm, onOpen } = this.parts;
    const taken = warm?.take();
    try {
      if (taken) taken.link.serve(source);
      else await this.current.open(phase);
    } catch (error) {
      this.opening = undefined;
      throw error;
    }
    if (taken) this.current = taken.link;
    this.openedAt = taken?.openedAt ?? new Date();
    this.isOpen = true;
    onOpen();
  }
}
