// Loaded into server-everything before its own code (`node --require`). Left alone, that server listens on a fixed port
// of every network interface; here it takes a free port of 127.0.0.1 and tells the parent which.
import { Server, type AddressInfo } from 'node:net';

// eslint-disable-next-line @typescript-eslint/unbound-method -- the proxy passes `this` on
Server.prototype.listen = new Proxy(Server.prototype.listen, {
  apply(listen, server: Server, args: unknown[]) {
    server.once('listening', () => process.send?.((server.address() as AddressInfo).port));
    return Reflect.apply(listen, server, [
      0,
      '127.0.0.1',
      ...args.filter((arg) => typeof arg === 'function'),
    ]) as Server;
  },
});

// The channel to the parent closes when the parent is gone, however it went.
process.once('disconnect', () => process.exit());
