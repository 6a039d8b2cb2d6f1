import { asError, onAbort, type Abortable } from './abort';

/** Lets one through at a time, in the order of arrival. */
export class Turnstile {
  private readonly queue: (() => void)[] = [];
  private occupied = false;

  /**
   * Waits for a turn and returns the function that ends it.
   * @throws the source's reason when it ends while waiting; that costs nobody a turn
   */
  async enter(source: Abortable): Promise<() => void> {
    source.throwIfAborted();
    if (this.occupied) await this.wait(source);
    this.occupied = true;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.next();
    };
  }

  private next(): void {
    const admit = this.queue.shift();
    if (admit) admit();
    else this.occupied = false;
  }

  private wait(source: Abortable): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const admit = (): void => {
        waiter.leave();
        resolve();
      };
      this.queue.push(admit);
      const waiter = onAbort(source, (reason) => {
        this.queue.splice(this.queue.indexOf(admit), 1);
        reject(asError(reason));
      });
    });
  }
}
