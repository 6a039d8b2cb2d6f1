/** What an operator sets. */
export class Settings {
  readonly shopUrl: string;
  readonly weatherUrl: string;
  /** Milliseconds that one answer may take. */
  readonly answerTimeout: number;
  /** Milliseconds that answers under way are given when the service stops. */
  readonly grace: number;

  constructor({ shopUrl, weatherUrl, answerTimeout = 60_000, grace = 5_000 }: SettingsParts) {
    this.shopUrl = shopUrl;
    this.weatherUrl = weatherUrl ?? 'http://127.0.0.1:2/mcp'; // nothing listens there: the optional server is down
    this.answerTimeout = answerTimeout;
    this.grace = grace;
  }
}

interface SettingsParts {
  readonly shopUrl: string;
  readonly weatherUrl?: string | undefined;
  readonly answerTimeout?: number | undefined;
  readonly grace?: number | undefined;
}
