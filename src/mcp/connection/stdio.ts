import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { serializeMessage, type ReadBuffer } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { StringDecoder } from 'node:string_decoder';
import { messageOf } from '../../errors';
import { nextTurn } from '../../run/next-turn';
import { showOnly } from '../../run/show-only';
import type { StdioConnectionOptions } from '../../toolset/client-source';
import { markOwn } from '../official-client';
import { RequestFailure, type CallbackFailure, type RequestFailureDetails } from '../request-failure';
import { afterLastWords } from './last-words';
import { MessageBuffer } from './message-buffer';
import { Redaction } from './redaction';
import { MOST_IN_A_TURN } from './turns';

/** Characters of stderr that an error tells, and that are kept for it. */
const TAIL_LENGTH = 500;
const KEPT_LENGTH = 8 * 1024;
/** Characters of a line that is no message, which an error tells. */
const STRAY_LENGTH = 200;
/** Answers that may wait for the child to read them: it may ask without end and read nothing. */
const MOST_ANSWERS = 1_000;
const DEFAULT_MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** What this transport needs of the SDK's own fields; where one is missing, the SDK's behaviour remains. */
interface SdkFields {
  _process?: ChildProcess;
  _readBuffer: ReadBuffer;
  processReadBuffer?(): void;
}

/** The SDK's transport to a child process: its stderr drained, its messages bounded, and nothing of it left at close. */
export class StdioTransport extends StdioClientTransport {
  /** Set by the channel: told of each request whose reply can no longer come. */
  onlostreply?: (id: string | number, failure: RequestFailureDetails | CallbackFailure) => void;
  /** Whether the child has exited or closed a pipe. */
  isEnding = false;
  /** Takes the values of the application's variables out of a text. */
  readonly redact: (text: string) => string;
  private readonly decoder = new StringDecoder('utf8');
  private tail = '';
  /** The beginning of the first line that was no message. */
  private strayLine: string | undefined;
  private readonly buffer: MessageBuffer;
  private child: ChildProcess | undefined;
  private failure: RequestFailure | undefined;
  /** Resolves when the child has read what waits for it. */
  private draining: Promise<void> | undefined;
  private answers = 0;
  /** Whether messages wait for the next turn. */
  private isWaiting = false;

  constructor({ command, args, env, cwd, maxMessageBytes }: StdioConnectionOptions) {
    super({
      command,
      args: [...(args ?? [])],
      stderr: 'pipe',
      ...(env && { env: { ...env } }),
      ...(cwd !== undefined && { cwd }),
    });
    markOwn(this);
    const secrets = new Redaction();
    secrets.learn(Object.values(env ?? {}));
    this.redact = (text) => secrets.redact(text);
    this.stderr?.on('data', (chunk: Buffer) => this.keep(this.decoder.write(chunk)));
    this.fields._readBuffer = this.buffer = new MessageBuffer(maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES, {
      onBreach: (failure) => {
        this.failure = failure;
        this.child?.stdout?.destroy();
        this.onclose?.();
      },
      onMisread: (id) => this.onlostreply?.(id, { kind: 'unreadable', message: 'it is no message of the protocol' }),
      // Cut only then: a part of a secret is one that nobody knows.
      onStray: (line) => (this.strayLine ??= this.redact(line).trim().slice(0, STRAY_LENGTH).toWellFormed()),
      onPause: () => this.goOnNextTurn(),
    });
    if (!this.fields.processReadBuffer) this.buffer.beginTurn(Infinity);
    showOnly(this, []); // the variables may hold credentials
  }

  override async start(): Promise<void> {
    try {
      await super.start();
    } catch (error) {
      // Node.js puts the arguments beside the message, and an application may log the whole error.
      delete (error as { spawnargs?: unknown }).spawnargs;
      const message = `its process could not be started: ${messageOf(error)}; "command" is the executable alone, and "cwd" has to exist`;
      throw new RequestFailure({ kind: 'unsent', message, cause: error });
    }
    const child = this.fields._process;
    this.child = child;
    if (!child) return;
    const ending = (): void => {
      this.isEnding = true;
      afterLastWords(child, () => {
        hangUp(child);
        this.takeRest();
        this.onclose?.();
      });
    };
    // Node.js has a paused pipe flow when the process exits, so the end can overtake what waits for its turn.
    child.prependOnceListener('close', () => this.takeRest());
    child.once('exit', ending);
    child.stdout?.once('close', ending);
    child.stdin?.once('error', ending);
  }

  /** Resolves when the child has room for more. The SDK's own waits with a listener for each message, which is quadratic. */
  override async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.fields._process?.stdin;
    if (!stdin) return super.send(message);
    const answers = 'method' in message ? 0 : 1;
    if (this.answers + answers > MOST_ANSWERS) throw new Error(`More than ${MOST_ANSWERS} answers are not read.`);
    if (stdin.write(serializeMessage(message))) return;
    this.draining ??= new Promise((resolve) => {
      stdin.once('drain', () => {
        this.draining = undefined;
        this.answers = 0;
        resolve();
      });
    });
    this.answers += answers;
    await this.draining;
  }

  override async close(): Promise<void> {
    await super.close();
    const { child } = this;
    if (!child) return;
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    hangUp(child);
  }

  /** Told that another run is to have the connection: what has been read is none of its. */
  handOver(): void {
    if (this.isWaiting) this.takeRest();
  }

  /** Why the connection has ended: a message over the limit, or the child's end with what it last wrote to stderr. */
  endReason(): RequestFailureDetails {
    if (this.failure) return this.failure.details;
    return { kind: 'closed', message: this.ending() + this.stray() };
  }

  /** What the child has written that is no message, for a failure that it may explain: a beginning and an end of it. */
  stray(): string {
    const stderr = this.redact(this.tail).trim().slice(-TAIL_LENGTH).toWellFormed();
    const stdout = this.strayLine ?? '';
    const written = stdout === '' ? '' : `; a line of its stdout that is no message of the protocol: ${stdout}`;
    return stderr === '' ? written : `${written}; the last lines of its stderr: ${stderr}`;
  }

  private ending(): string {
    const { exitCode = null, signalCode = null } = this.child ?? {};
    if (signalCode !== null) return `the server's process was ended by ${signalCode}`;
    return exitCode === null
      ? "the server's process has closed its output"
      : `the server's process has ended with exit code ${exitCode}`;
  }

  /** Takes in no more of the child's messages until everything else in the process has had its turn. */
  private goOnNextTurn(): void {
    const stdout = this.child?.stdout;
    stdout?.pause();
    // Node.js has a paused pipe flow when the process exits.
    if (this.isWaiting) return;
    this.isWaiting = true;
    void nextTurn().then(() => {
      this.isWaiting = false;
      stdout?.resume();
      this.read(MOST_IN_A_TURN);
    });
  }

  /** Takes in all that has come of the child, however much it is. */
  private takeRest(): void {
    this.read(Infinity);
  }

  private read(messages: number): void {
    this.buffer.beginTurn(messages);
    this.fields.processReadBuffer?.();
  }

  /** Keeps the end of stderr, without a word that is cut: it could be a part of a secret, by which nobody knows it. */
  private keep(text: string): void {
    const all = this.tail + text;
    this.tail = all.length > KEPT_LENGTH ? all.slice(-KEPT_LENGTH).replace(/^\S+/, '') : all;
  }

  private get fields(): SdkFields {
    return this as unknown as SdkFields;
  }
}

/** Lets go of a child's pipes, by which it counts as closed although a grandchild holds on to them. */
function hangUp(child: ChildProcess): void {
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
}
