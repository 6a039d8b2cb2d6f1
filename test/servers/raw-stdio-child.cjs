'use strict';
// The process that rawStdio() starts. It runs as plain JavaScript. Its arguments are the port of the kit's channel on
// 127.0.0.1 and its role. Over the channel it gets its script, and tells what it receives. When the channel closes, the
// kit has closed or died, and the process ends too.
const { spawn } = require('node:child_process');
const { writeSync } = require('node:fs');
const { connect } = require('node:net');

const [port, role] = process.argv.slice(2);
const channel = connect(Number(port), '127.0.0.1');
const unrecorded = [];
let script;
let ignoresSigterm = false;
let ignoresStdinEnd = false;

const tell = (message) => channel.write(`${JSON.stringify(message)}\n`);
const send = (message) => output(1, `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const end = () => process.kill(process.pid, 'SIGKILL');

channel.on('error', end);
channel.on('close', end);
channel.on('connect', () => tell({ hello: process.pid, role }));
if (role === 'child') onLines(channel, (line) => onChannel(JSON.parse(line)));
else channel.resume();

/** Writes all of a text before anything else happens, so that a process that ends right after it loses nothing. */
function output(fd, text) {
  const bytes = Buffer.from(text);
  for (let sent = 0; sent < bytes.length;) {
    try {
      sent += writeSync(fd, bytes, sent);
    } catch (error) {
      if (error.code !== 'EAGAIN') return; // the client has gone
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

/** Lines end by a newline and by nothing else: JSON may hold every other line separator. */
function onLines(stream, onLine) {
  let rest = '';
  stream.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    lines.forEach(onLine);
  });
}

/** The function of a source text; methods of an object literal have another form than functions. */
function compile(source) {
  const build = (expression) => new Function('require', `return (${expression});`)(require);
  try {
    return build(source);
  } catch {
    return Object.values(build(`{ ${source} }`))[0];
  }
}

function onChannel(message) {
  if ('recorded' in message) void handle(unrecorded.shift());
  else if ('script' in message) start(message.script).catch(fail);
  else void run(message);
}

/** A script that cannot be started fails its test. */
function fail(fault) {
  tell({ fault: describe(fault) });
  process.exit(1);
}

/** Runs a function that the kit sends while the child is alive. */
async function run({ seq, source, data }) {
  try {
    const value = await compile(source)({ ...exchangeOf('run', ''), ...(data !== undefined && { data }) });
    tell({ ran: seq, value });
  } catch (fault) {
    tell({ ran: seq, fault: describe(fault) });
  }
}

async function start(given) {
  script = { ...given, on: new Map() };
  for (const [method, source] of Object.entries(given.onSource)) script.on.set(method, compile(source));
  if (given.toolsSource) script.tools = compile(given.toolsSource);
  if (given.callSource) script.call = compile(given.callSource);
  ignoresSigterm = Boolean(given.ignoreSigterm);
  ignoresStdinEnd = Boolean(given.ignoreStdinEnd);
  process.on('SIGTERM', () => record({ event: 'SIGTERM' }, exchangeOf('SIGTERM', '')));
  if (script.on.has('start')) await handle(exchangeOf('start', ''));
  onLines(process.stdin, (line) => record({ line }, exchangeOf(undefined, line)));
  process.stdin.on('end', () => record({ event: 'end' }, exchangeOf('end', '')));
}

/** Handles nothing before the kit has recorded it: who has the answer to a message also finds the message. */
function record(message, exchange) {
  unrecorded.push(exchange);
  tell(message);
}

/** Answers by the script's handler, or politely; what a handler throws is told to the kit. */
async function handle(exchange) {
  const handler = script.on.get(exchange.method);
  try {
    if (handler) await handler(exchange);
    else await polite(exchange);
  } catch (fault) {
    tell({ fault: describe(fault) });
    if (exchange.id !== undefined) exchange.error(exchange.id, -32603, 'A handler of the script threw.');
  }
}

async function polite(exchange) {
  const { method, id, params } = exchange;
  if (method === 'end') return ignoresStdinEnd ? undefined : process.exit(0);
  if (method === 'SIGTERM') return ignoresSigterm ? undefined : exchange.die('SIGTERM');
  if (id === undefined || method === 'response') return undefined;
  if (method === 'initialize') return exchange.reply(id, initializeResult(params));
  if (method === 'ping') return exchange.reply(id, {});
  if (method === 'tools/list') return list(exchange);
  if (method === 'tools/call') return call(exchange);
  return exchange.error(id, -32601, `Method not found: ${method}`);
}

function initializeResult({ protocolVersion }) {
  const serverInfo = { name: 'raw-stdio', version: '1.0.0' };
  return { protocolVersion, capabilities: { tools: {} }, serverInfo, ...script.initialize };
}

async function list(exchange) {
  const { tools = [] } = script;
  const page = typeof tools === 'function' ? await tools(exchange.params, exchange) : tools;
  if (page !== undefined) exchange.reply(exchange.id, Array.isArray(page) ? { tools: page } : page);
}

async function call(exchange) {
  const echo = { content: [{ type: 'text', text: JSON.stringify(exchange.params.arguments ?? {}) }] };
  const result = script.call ? await script.call(exchange.params, exchange) : echo;
  if (result !== undefined) exchange.reply(exchange.id, result);
}

function exchangeOf(event, line) {
  const message = event ? undefined : parse(line);
  const params = message?.params ?? {};
  const exchange = { ...abilities, message, line, params, id: message?.id, data: script?.data };
  exchange.method = event ?? methodOf(message);
  exchange.polite = () => polite(exchange);
  exchange.progress = (progress, total) => {
    const { progressToken } = params._meta ?? {};
    exchange.notify('notifications/progress', { progressToken, progress, total });
  };
  return exchange;
}

function methodOf(message) {
  if (Array.isArray(message)) return 'batch';
  if (typeof message?.method === 'string') return message.method;
  return message && ('result' in message || 'error' in message) ? 'response' : 'invalid';
}

const abilities = {
  reply: (id, result) => void send({ id, result }),
  error: (id, code, message, data) => void send({ id: id ?? null, error: { code, message, data } }),
  notify: (method, params) => void send({ method, params }),
  request: (id, method, params) => void send({ id, method, params }),
  write: (text) => output(1, text),
  stderr: (text) => output(2, text),
  exit: (code = 0) => process.exit(code),
  die: (signal = 'SIGKILL') => void process.removeAllListeners(signal).kill(process.pid, signal),
  hang: () => undefined,
  ignoreSigterm: () => void (ignoresSigterm = true),
  ignoreStdinEnd: () => void (ignoresStdinEnd = true),
  spawnGrandchild: () => {
    const stdio = ['ignore', 'inherit', 'ignore'];
    const grandchild = spawn(process.execPath, [__filename, port, 'grandchild'], { stdio });
    grandchild.unref();
    return grandchild.pid;
  },
};

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function describe(fault) {
  return fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
}
