'use strict';
// Loaded before a server that chooses its own address: it listens on 127.0.0.1 and on a port that the system picks, and
// that port is reported over IPC. When the process that started it goes, it ends too.
const { Server } = require('node:net');

const listen = Server.prototype.listen;

Server.prototype.listen = function listenOnLoopback(...args) {
  this.once('listening', () => process.send?.(this.address().port));
  return listen.call(
    this,
    0,
    '127.0.0.1',
    args.find((argument) => typeof argument === 'function'),
  );
};

process.once('disconnect', () => process.exit());
