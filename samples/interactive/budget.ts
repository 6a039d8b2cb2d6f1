/** How many tokens the servers of one run may have a model generate. */
export class Budget {
  constructor(private tokens: number) {}

  get left(): number {
    return this.tokens;
  }

  /** Takes tokens out of the budget; false, and nothing is taken, where there are too few. */
  take(tokens: number): boolean {
    if (!(tokens > 0 && tokens <= this.tokens)) return false;
    this.tokens -= tokens;
    return true;
  }
}
