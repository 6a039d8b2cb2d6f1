import { latestSession, type Session } from '../mcp/session';
import { closeTogether } from '../mcp/session-registry';
import { nextTurn } from '../run/next-turn';

/** Keeps the sessions behind the classes of one registration open until it is known who uses them. */
export class SessionClaims {
  private readonly before = latestSession();
  /** Who holds each session apart from the tools that the registration makes, once it makes them. */
  private readonly others = new Map<Session, ReadonlySet<object> | undefined>();

  /** Keeps the session behind a tool, if it has one. */
  claim(session: Session | undefined): void {
    session?.hold(this);
    if (session) this.others.set(session, undefined);
  }

  /** From now on, whoever comes to hold a session is a tool of the registration. */
  makeTools(): void {
    for (const session of this.others.keys()) this.others.set(session, new Set(session.holders));
  }

  /** The registration has succeeded: without a run, a session of which it took no tool closes. */
  async settle(hasRun: boolean): Promise<void> {
    await this.letGo(() => !hasRun);
  }

  /**
   * The registration has failed: tools that it made, also half of one, hold nothing any more, and what was opened since it
   * began closes, unless another one uses it.
   */
  async withdraw(): Promise<void> {
    for (const [session, others] of this.others) {
      for (const holder of others ? [...session.holders] : []) if (!others?.has(holder)) session.drop(holder);
    }
    await this.letGo(({ ordinal }) => ordinal > this.before);
  }

  private async letGo(isOurs: (session: Session) => boolean): Promise<void> {
    const sessions = [...this.others.keys()];
    for (const session of sessions) session.drop(this);
    const free = sessions.filter((session) => session.holders.size === 0 && isOurs(session));
    if (free.length === 0) return;
    for (const session of free) session.forget();
    // Another registration may just have been given the classes, and not have come to claim them.
    await nextTurn();
    const unused = free.filter(({ holders }) => holders.size === 0);
    await closeTogether(unused, 'ToolRegistry');
  }
}
