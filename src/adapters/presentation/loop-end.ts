import type { ToolBinding } from '../../tool/tool-binding';

/**
 * Ends an agent's loop where the framework tells the model of whatever a tool throws: what may not be told is noted, and
 * thrown where the framework lets errors through.
 */
export class LoopEnd {
  private noted: { readonly error: unknown } | undefined;

  constructor(private readonly binding: ToolBinding) {}

  /** Notes the error of a call after which the loop may not go on. */
  note(error: unknown): void {
    this.noted ??= { error };
  }

  /**
   * Returns while the loop may go on.
   * @throws what was noted first; CancelledError or DeadlineExceededError where the run has ended
   */
  check(): void {
    if (this.noted) throw this.noted.error;
    this.binding.run?.check();
  }
}
