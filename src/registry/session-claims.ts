import { sessionOf } from '../mcp/mcp-tool';
import { latestSession, type Session } from '../mcp/session';
import { closeTogether } from '../mcp/session-registry';
import type { ToolClass } from '../tool/tool';

/** Keeps the sessions behind the classes of one registration open until it is known who uses them. */
export class SessionClaims {
  private readonly before = latestSession();
  private readonly sessions = new Set<Session>();

  /** Keeps the session behind a class, if it has one. */
  claim(type: ToolClass): void {
    const session = sessionOf(type);
    session?.hold(this);
    if (session) this.sessions.add(session);
  }

  /** The registration has succeeded: without a run, a session of which it took no tool closes. */
  async settle(hasRun: boolean): Promise<void> {
    await this.letGo(() => !hasRun);
  }

  /** The registration has failed: what was opened since it began closes, unless another one uses it. */
  async withdraw(): Promise<void> {
    await this.letGo(({ ordinal }) => ordinal > this.before);
  }

  private async letGo(isOurs: (session: Session) => boolean): Promise<void> {
    for (const session of this.sessions) session.drop(this);
    const unused = [...this.sessions].filter((session) => !session.isHeld && isOurs(session));
    await closeTogether(
      unused.map((session) => ({ close: () => session.abandon() })),
      'ToolRegistry',
    );
  }
}
