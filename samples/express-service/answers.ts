import { setTimeout as delay } from 'node:timers/promises';
import { injectable } from 'tsyringe';
import { CancelledError, DeadlineExceededError, ProviderError, RunFactory, type Run } from 'mcp-toolset';
import { AskController } from './ask-controller';
import { Settings } from './settings';
import { Steps, type Step } from './steps';

/** Who asks, and how the answer reaches them. */
export interface Asker {
  readonly user: string;
  /** Aborts when the user is gone. */
  readonly signal: AbortSignal;
  readonly send: (step: Step) => void;
}

/** The answers that are being made, each in a run of its own. */
@injectable()
export class Answers {
  private readonly underWay = new Map<Run, Promise<void>>();
  private stopping = false;

  constructor(
    private readonly runs: RunFactory,
    private readonly settings: Settings,
  ) {}

  get size(): number {
    return this.underWay.size;
  }

  /** Whether no more questions are taken. */
  get isStopping(): boolean {
    return this.stopping;
  }

  /** Answers a question, step by step; how it ends is a step too. Never throws. */
  async answer(question: string, { user, signal, send }: Asker): Promise<void> {
    const run = this.runs.start({ actorId: user, signal, timeout: this.settings.answerTimeout });
    const answering = this.carryOut(run, question, send).finally(() => this.underWay.delete(run));
    this.underWay.set(run, answering);
    await answering;
  }

  /** Takes no more questions; waits for the answers under way, and cancels those that take too long. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.idleWithin(this.settings.grace);
    for (const run of this.underWay.keys()) run.cancel('The service is stopping.');
    await this.idleWithin(5_000);
  }

  private async carryOut(run: Run, question: string, send: Asker['send']): Promise<void> {
    run.container.registerInstance(Steps, new Steps(send));
    try {
      await run.resolve(AskController).answer(question);
      send({ type: 'done' });
    } catch (error) {
      // An SDK that was told to stop throws an error of its own; why it was told so is the run's to say.
      send({ type: 'error', message: this.messageFor(run.signal.aborted ? run.signal.reason : error) });
    } finally {
      await run.close().catch((error: unknown) => console.error(error));
    }
  }

  /** What a user may know of a failure; the rest is for the log. */
  private messageFor(error: unknown): string {
    if (DeadlineExceededError.is(error)) return 'The answer took too long.';
    if (CancelledError.is(error)) return this.stopping ? 'The service is stopping.' : 'The answer was cancelled.';
    console.error(error);
    return ProviderError.is(error) ? 'The shop cannot be reached.' : 'Something went wrong.';
  }

  private async idleWithin(milliseconds: number): Promise<void> {
    const stop = new AbortController();
    const late = delay(milliseconds, undefined, { signal: stop.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.underWay.values()), late]);
    stop.abort();
  }
}
