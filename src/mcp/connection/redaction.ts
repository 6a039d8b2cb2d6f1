const SHORTEST_SECRET = 4;
/** Names of authentication schemes, which are no secrets and which errors speak of. */
const SCHEMES = new Set(['basic', 'bearer', 'digest', 'dpop']);

/** Takes secrets out of texts, also where only a word of one is quoted. */
export class Redaction {
  private readonly secrets = new Set<string>();
  private latest: readonly string[] = [];

  /** One that remembers the latest `most` secrets and words of secrets. */
  constructor(private readonly most = Infinity) {}

  learn(secrets: readonly string[]): void {
    // Most requests carry the same ones.
    if (secrets.length === this.latest.length && secrets.every((secret, index) => secret === this.latest[index]))
      return;
    this.latest = secrets;
    for (const part of secrets.flatMap((secret) => [secret, ...secret.split(/[\s",;]+/)])) {
      if (part.length < SHORTEST_SECRET || SCHEMES.has(part.toLowerCase())) continue;
      this.secrets.delete(part);
      this.secrets.add(part);
    }
    for (const oldest of this.secrets) {
      if (this.secrets.size <= this.most) break;
      this.secrets.delete(oldest);
    }
  }

  redact(text: string): string {
    const longestFirst = [...this.secrets].sort((a, b) => b.length - a.length);
    return longestFirst.reduce((redacted, secret) => redacted.replaceAll(secret, '[redacted]'), text);
  }
}
