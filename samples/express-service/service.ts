import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DependencyContainer } from 'tsyringe';
import { SessionRegistry } from 'mcp-toolset';
import { Answers } from './answers';
import { createApp } from './app';

/** The service while it runs. */
export class Service {
  private stopping: Promise<void> | undefined;

  /** Made by `start`. */
  private constructor(
    private readonly container: DependencyContainer,
    private readonly server: Server,
  ) {}

  /** Listens on 127.0.0.1; port 0 stands for any that is free. */
  static async start(container: DependencyContainer, port = 0): Promise<Service> {
    const server = createServer(createApp(container)).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new Service(container, server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /**
   * Stops: no new connection and no new question; answers under way end, or are cancelled after the grace that the
   * settings give them; then sessions and sockets are closed. Every call returns the same promise.
   */
  stop(): Promise<void> {
    this.stopping ??= this.end();
    return this.stopping;
  }

  private async end(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    await this.container.resolve(Answers).stop();
    await this.container.resolve(SessionRegistry).closeAll();
    this.server.closeAllConnections();
    await closed;
  }
}
