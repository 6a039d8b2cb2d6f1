import type { Exchange } from './exchange';
import type { JSONRPCMessage } from './official-client';
import { readReply } from './reply';

type Id = string | number;

/** The exchanges of one connection that wait for their replies: few at a time, so an array costs less than a map. */
export class OpenExchanges {
  private readonly waiting: Exchange[] = [];
  /** Those whose reply has come and is yet to be told: a notification that came before it belongs to them. */
  private readonly replied = new Set<Exchange>();

  add(exchange: Exchange): void {
    this.waiting.push(exchange);
  }

  has(exchange: Exchange): boolean {
    return this.waiting.includes(exchange);
  }

  get(id: Id): Exchange | undefined {
    return this.waiting[this.indexOf(id)] ?? [...this.replied].find((exchange) => exchange.id === id);
  }

  /** Takes one out; a server may write the client's number as a text. */
  take(id: Id | undefined): Exchange | undefined {
    const given = this.indexOf(id);
    const index = given < 0 && typeof id === 'string' && /^\d+$/.test(id) ? this.indexOf(Number(id)) : given;
    return index < 0 ? undefined : this.waiting.splice(index, 1)[0];
  }

  /** Takes one out for its reply, until that is told. */
  takeReplied(reply: JSONRPCMessage & { readonly id?: Id | undefined }): Exchange | undefined {
    const exchange = this.take(reply.id);
    if (!exchange) return undefined;
    this.replied.add(exchange);
    return Object.assign(exchange, readReply(reply));
  }

  /** Its reply is told. */
  forget(exchange: Exchange): void {
    this.replied.delete(exchange);
  }

  get ids(): readonly Id[] {
    return this.waiting.map(({ id }) => id);
  }

  private indexOf(id: Id | undefined): number {
    return this.waiting.findIndex((exchange) => exchange.id === id);
  }
}
