import { createInterface, type Interface } from 'node:readline/promises';

/** What the user of the script answers, where there is no terminal. */
const SCRIPT = ['Ada Lovelace', 'no'];

/** The user at the terminal. */
export class User {
  private readonly terminal: Interface | undefined = process.stdin.isTTY
    ? createInterface({ input: process.stdin, output: process.stdout })
    : undefined;
  private readonly script = [...SCRIPT];

  /** Shows lines; control characters, by which a server could repaint the terminal, are left out. */
  say(...lines: readonly string[]): void {
    console.log(lines.map((line) => line.replace(/\p{Cc}/gu, ' ')).join('\n'));
  }

  /** What the user answers to a question, unless `signal` aborts before. */
  async answer(question: string, signal: AbortSignal): Promise<string> {
    if (this.terminal) return (await this.terminal.question(`${question} `, { signal })).trim();
    const answer = this.script.shift() ?? '';
    this.say(`${question} ${answer}`);
    return answer;
  }

  /** Whether the user agrees. */
  async confirms(question: string, signal: AbortSignal): Promise<boolean> {
    return /^y(es)?$/i.test(await this.answer(`${question} (yes/no)`, signal));
  }

  close(): void {
    this.terminal?.close();
  }
}
