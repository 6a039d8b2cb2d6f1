import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StringDecoder } from 'node:string_decoder';
import type { StdioConnectionOptions } from '../../toolset/client-source';
import { redaction } from './redaction';

const TAIL_LENGTH = 500;

/** A transport to a child process (MCP specification, Transports). */
export function stdioTransport(options: StdioConnectionOptions): StdioTransport {
  return new StdioTransport(options);
}

class StdioTransport extends StdioClientTransport {
  /** Takes the values of the application's variables out of a text. */
  readonly redact: (text: string) => string;
  private readonly decoder = new StringDecoder('utf8');
  private tail = '';

  constructor({ command, args, env, cwd }: StdioConnectionOptions) {
    super({
      command,
      args: [...(args ?? [])],
      stderr: 'pipe',
      ...(env && { env: { ...env } }),
      ...(cwd !== undefined && { cwd }),
    });
    this.redact = redaction(Object.values(env ?? {}));
    this.stderr?.on('data', (chunk: Buffer) => {
      this.tail = (this.tail + this.decoder.write(chunk)).slice(-4 * TAIL_LENGTH);
    });
  }

  /** The end of what the child wrote to stderr. */
  stderrTail(): string {
    return this.redact(this.tail).trim().slice(-TAIL_LENGTH).toWellFormed();
  }
}
