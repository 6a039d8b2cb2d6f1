import { text, tool, type RawHttpScript, type RawHttpServer } from '../servers';

/** A script that keeps in `ran` how often it carried out each call, by the argument `n`. */
export function counting(script: RawHttpScript = {}): RawHttpScript & { readonly ran: Map<unknown, number> } {
  const ran = new Map<unknown, number>();
  return {
    ran,
    tools: [tool('count')],
    call: ({ arguments: args }) => {
      ran.set(args?.n, (ran.get(args?.n) ?? 0) + 1);
      return text(`ran ${String(args?.n)}`);
    },
    ...script,
  };
}

/** How many requests of a method the server received. */
export function count(server: RawHttpServer, method: string): number {
  return server.requests.filter((request) => request.method === method).length;
}
