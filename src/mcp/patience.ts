import { LONGEST_TIMER } from '../options';
import { Interruption, type Abortable } from '../run/abort';

/** How long one request may take: until one of `sources` ends, or `timeout` milliseconds have passed. */
export class Patience extends Interruption {
  private timer: NodeJS.Timeout | undefined;
  private pauses = 0;
  private isOver = false;

  constructor(
    sources: readonly Abortable[],
    private readonly timeout: number,
    private readonly tooSlow: () => Error,
  ) {
    super();
    for (const source of sources) this.follow(source);
    this.restart();
  }

  /** Starts the time again, unless it has run out or is not needed any more. */
  restart(): void {
    clearTimeout(this.timer);
    if (this.isOver || this.pauses > 0) return;
    this.timer = setTimeout(() => this.end(this.tooSlow()), Math.min(this.timeout, LONGEST_TIMER));
  }

  /** Lets the time stand still until the function that it returns is called; then it starts again. */
  pause(): () => void {
    let paused = true;
    this.pauses += 1;
    clearTimeout(this.timer);
    return () => {
      if (!paused) return;
      paused = false;
      this.pauses -= 1;
      this.restart();
    };
  }

  /** Takes back the timer and every listener. */
  override release(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    super.release();
  }
}
