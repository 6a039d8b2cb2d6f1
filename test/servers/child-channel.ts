import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { LiveSet } from './live-set';
import { killAndWait } from './processes';
import type { JsonObject } from './rpc';

/** A process that reported to the kit: a server that a client started, or a child of such a server. */
export interface Reporter {
  readonly pid: number;
  readonly role: 'child' | 'grandchild';
  /** Sends one message to it. */
  send(message: JsonObject): void;
}

/** What the owner of a channel hears. */
export interface ChannelListener {
  joined(reporter: Reporter): void;
  told(reporter: Reporter, message: JsonObject): void;
  left(reporter: Reporter): void;
}

/** The line between the kit and the processes of one stdio server: TCP on 127.0.0.1, open as long as each lives. */
export class ChildChannel {
  readonly reporters = new LiveSet<Reporter>();
  readonly #sockets = new LiveSet<Socket>();
  readonly #server = createServer((socket) => this.#accept(socket));
  readonly #listener: ChannelListener;

  constructor(listener: ChannelListener) {
    this.#listener = listener;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async open(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Ends every process that is left, and resolves when they are gone. */
  async close(): Promise<void> {
    this.#server.close();
    await killAndWait([...this.reporters].map(({ pid }) => pid));
    for (const socket of this.#sockets) socket.destroy(); // one that has not introduced itself ends by this
    await this.#sockets.whenEmpty();
  }

  #accept(socket: Socket): void {
    let reporter: Reporter | undefined;
    this.#sockets.add(socket);
    socket.on('error', () => undefined); // a process that was killed
    onLines(socket, (line) => {
      const message = JSON.parse(line) as JsonObject;
      if (reporter) this.#listener.told(reporter, message);
      else reporter = this.#introduce(socket, message);
    });
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (!reporter) return;
      this.reporters.delete(reporter);
      this.#listener.left(reporter);
    });
  }

  #introduce(socket: Socket, { hello, role }: JsonObject): Reporter {
    const reporter: Reporter = {
      pid: hello as number,
      role: role as Reporter['role'],
      send: (message) => void socket.write(`${JSON.stringify(message)}\n`),
    };
    this.reporters.add(reporter);
    this.#listener.joined(reporter);
    return reporter;
  }
}

/** Lines end by a newline and by nothing else: JSON may hold every other line separator. */
function onLines(socket: Socket, onLine: (line: string) => void): void {
  let rest = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(onLine);
  });
}
