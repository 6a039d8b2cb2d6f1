import type { Exchange } from './exchange';

type Id = string | number;

/** The exchanges of one connection that wait for their replies: few at a time, so an array costs less than a map. */
export class OpenExchanges {
  private readonly waiting: Exchange[] = [];

  add(exchange: Exchange): void {
    this.waiting.push(exchange);
  }

  has(exchange: Exchange): boolean {
    return this.waiting.includes(exchange);
  }

  get(id: Id): Exchange | undefined {
    return this.waiting[this.indexOf(id)];
  }

  /** Takes one out; a server may write the client's number as a text. */
  take(id: Id | undefined): Exchange | undefined {
    const given = this.indexOf(id);
    const index = given < 0 && typeof id === 'string' && /^\d+$/.test(id) ? this.indexOf(Number(id)) : given;
    return index < 0 ? undefined : this.waiting.splice(index, 1)[0];
  }

  get ids(): readonly Id[] {
    return this.waiting.map(({ id }) => id);
  }

  private indexOf(id: Id | undefined): number {
    return this.waiting.findIndex((exchange) => exchange.id === id);
  }
}
