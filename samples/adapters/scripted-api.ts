import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Stands in for a model's API where there is no key: an endpoint on 127.0.0.1 that answers each request with the next
 * turn. No model is behind it; the tool calls that it asks for are carried out for real.
 */
export class ScriptedApi implements AsyncDisposable {
  private readonly server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
      response.end(JSON.stringify(this.turns.shift()));
    });
  });

  private constructor(private readonly turns: unknown[]) {}

  static async start(turns: readonly unknown[]): Promise<ScriptedApi> {
    console.log('No key is set: a scripted endpoint on this machine plays the model.\n');
    const api = new ScriptedApi([...turns]);
    api.server.listen(0, '127.0.0.1');
    await once(api.server, 'listening');
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    await closed;
  }
}
