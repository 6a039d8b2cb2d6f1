import { getMaxListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import zlib from 'node:zlib';
import { CancelledError, ProviderError, RunFactory, ToolRegistry, type HttpConnectionOptions } from 'mcp-toolset';
import { container } from 'tsyringe';
import { Agent, type Dispatcher } from 'undici';
import { closeServersAfterEach, startRawHttp, text, tool, type HttpExchange } from '../servers';
import { callOnce, connected, failureOf, inPieces, rejectionOf, serverThat } from './connected';
import { through } from './dispatchers';
import { toolsetFor } from './live-run';

closeServersAfterEach();

const NOTIFICATION = 'notifications/initialized';

function replyTo({ id }: HttpExchange): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result: text('ok') });
}

/** Writes an answer by hand, and ends the connection. */
function write({ req }: HttpExchange, head: string, body: string): void {
  req.socket.end(`HTTP/1.1 ${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

describe('R42: a result is not lost', () => {
  it.each([
    ['that looks like a member of every object', 'constructor: x'],
    ['that looks like the prototype of one', '__proto__: x'],
    ['that comes twice where it may come once', 'content-disposition: a\r\ncontent-disposition: b'],
  ])('by a header %s', async (_what, header) => {
    const server = await serverThat((exchange) =>
      write(exchange, `200 OK\r\ncontent-type: application/json\r\n${header}`, replyTo(exchange)),
    );
    expect(await callOnce(server.connection)).toMatchObject({ content: 'ok' });
  });

  it.each([
    ['CR', '\r'],
    ['CRLF', '\r\n'],
    ['LF', '\n'],
  ])('by lines of an event stream that end with %s', async (_what, end) => {
    const server = await serverThat((exchange) => {
      const lines = ['{"jsonrpc":"2.0",', `"id":${String(exchange.id)},`, '"result":{"structuredContent":[1]}}'];
      exchange.sse().write([...lines.map((line) => `data: ${line}`), '', ''].join(end));
    });
    const seen = { status: 'success', value: [1] };
    expect(await callOnce(server.connection)).toMatchObject(seen);
    expect(await callOnce({ ...server.connection, fetch: inPieces(1) })).toMatchObject(seen);
  });

  it('by an answer of early hints', async () => {
    const server = await serverThat((exchange) => {
      exchange.req.socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n');
      exchange.raw(200, { 'content-type': 'application/json' }, replyTo(exchange));
    });
    expect(await callOnce(server.connection)).toMatchObject({ content: 'ok' });
  });

  it('by a fetch that keeps a copy of every answer, as one does that records', async () => {
    const server = await serverThat((exchange) => exchange.json(text('ok')));
    const copies: Response[] = [];
    const recording = async (url: string | URL, init?: RequestInit): Promise<Response> => {
      const response = await fetch(url, init);
      copies.push(response.clone());
      return response;
    };
    expect(await callOnce({ ...server.connection, fetch: recording })).toMatchObject({ content: 'ok' });
    await Promise.allSettled(copies.map((copy) => copy.text())); // those of what was dropped fail
  });
});

describe('a `fetch` of the application that reads, and so takes, the body of an answer', () => {
  /** One that writes to a log what it fetches, where an answer is such a one. */
  const reading =
    (isWanted: (response: Response) => boolean): HttpConnectionOptions['fetch'] =>
    async (url, init) => {
      const response = await fetch(url, init);
      if (isWanted(response)) await response.text();
      return response;
    };

  it('R43: of a session that is gone has another one opened all the same', async () => {
    const server = await serverThat((exchange) =>
      server.calls.length === 1 ? exchange.raw(404, {}, 'no session') : exchange.json(text('ok')),
    );
    const connection = { ...server.connection, fetch: reading(({ ok }) => !ok) };
    expect(await callOnce(connection)).toMatchObject({ content: 'ok' });
  });

  it('R42: of a refusal has its status told', async () => {
    const server = await serverThat((exchange) => exchange.raw(500, {}, 'broken'));
    const error = failureOf(await callOnce({ ...server.connection, fetch: reading(({ ok }) => !ok) }));
    expect(String(error)).toContain('HTTP 500');
  });

  it('R42: of an answer that nobody else reads does no harm', async () => {
    const server = await serverThat((exchange) => exchange.json(text('ok')));
    const connection = { ...server.connection, fetch: reading(({ status }) => status === 202) };
    expect(await callOnce(connection)).toMatchObject({ content: 'ok' });
  });

  it('R42: of the reply is said to have done so', async () => {
    const server = await serverThat((exchange) => exchange.json(text('ok')));
    const isOfCall = (): boolean => server.calls.length > 0;
    const error = failureOf(await callOnce({ ...server.connection, fetch: reading(isOfCall) }));
    expect(error).toMatchObject({ outcome: 'unknown' });
  });
});

describe('R42: a call is only said not to have been sent where it was not', () => {
  it.each([
    ['connect', 'not-sent'],
    ['read', 'unknown'],
  ])('when the host cannot be reached, as %s says', async (syscall, outcome) => {
    const server = await serverThat((exchange) => exchange.json(text('ok')));
    const failing = (url: string | URL, init?: RequestInit): Promise<Response> => {
      const isCall = typeof init?.body === 'string' && init.body.includes('tools/call');
      const cause = Object.assign(new Error(`${syscall} EHOSTUNREACH`), { code: 'EHOSTUNREACH', syscall });
      return isCall ? Promise.reject(new TypeError('fetch failed', { cause })) : fetch(url, init);
    };
    expect(failureOf(await callOnce({ ...server.connection, fetch: failing })).outcome).toBe(outcome);
  });
});

describe('R37: an answer that nobody reads', () => {
  it.each(['202 Accepted', '204 No Content', '205 Reset Content', '200 OK'])('may break off: %s', async (status) => {
    const server = await startRawHttp({
      tools: [tool('a')],
      on: { [NOTIFICATION]: ({ req }) => req.socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 100\r\n\r\n{`) },
    });
    expect(await callOnce(server.connection)).toMatchObject({ status: 'success' });
  });

  it('may break before anybody can have read it', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
    const server = await serverThat(({ req }) => req.socket.end(`${head}no chunk`));
    const failure = failureOf(await callOnce(server.connection));
    expect(failure).toBeInstanceOf(ProviderError);
    expect(failure.outcome).toBe('unknown');
  });

  it('is let go of where it never ends, while the session is open', async () => {
    const server = await startRawHttp({
      tools: [tool('a')],
      on: { [NOTIFICATION]: (exchange) => void exchange.stream(202, { 'content-type': 'text/plain' }).write('and so') },
    });
    await using session = await connected(server.connection);
    await (await server.waitFor(NOTIFICATION)).waitForClose();
    expect(await session.call()).toMatchObject({ status: 'success' });
  });

  it('may be one of many at once', async () => {
    const answers = 15; // more than an emitter takes for a leak
    const server = await serverThat(async (exchange) => {
      const stream = exchange.sse();
      for (let id = 1; id <= answers; id += 1) stream.request(id, 'ping');
      await server.waitFor('response', answers);
      for (const asked of server.requests) if (asked.method === 'response') asked.accept();
      stream.reply(text('ok')).end();
    });
    server.script.on = { ...server.script.on, response: () => undefined };
    expect(await callOnce(server.connection)).toMatchObject({ content: 'ok' });
  });

  it('is not decompressed any more when its session has closed', async () => {
    const destroyed = jest.spyOn(zlib.Gunzip.prototype, '_destroy');
    const large = zlib.gzipSync(`:${' '.repeat(50_000_000)}\n\n`);
    const server = await serverThat((exchange) => {
      const first = zlib.gzipSync(`data: ${replyTo(exchange)}\n\n`);
      // Two gigabytes in a few bytes, so that all of them have come when the session closes.
      const params = { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 };
      const body = zlib.brotliCompressSync(Buffer.concat([first, ...Array<Buffer>(40).fill(large)]), { params });
      exchange.sse({ 'content-encoding': 'gzip, br' }).write(body).end();
    });
    expect(await callOnce(server.connection)).toMatchObject({ content: 'ok' });
    expect(destroyed).toHaveBeenCalledTimes(1);
    destroyed.mockRestore();
  });
});

describe('R31: an answer whose compression ends before its body does', () => {
  // What comes behind the end of the compression is what tells the decoder of it.
  const compressions = [
    ['deflate', zlib.deflateSync],
    ['gzip', zlib.gzipSync],
    ['br', zlib.brotliCompressSync],
  ] as const;

  it.each(compressions)('is let go of while the session is open: %s', async (encoding, compress) => {
    const server = await serverThat((exchange) => {
      const body = Buffer.concat([compress(replyTo(exchange)), Buffer.alloc(1_000)]);
      exchange.stream(200, { 'content-type': 'application/json', 'content-encoding': encoding }).write(body);
    });
    await using session = await connected(server.connection);
    expect(await session.call()).toMatchObject({ content: 'ok' });
    expect(await (await server.waitFor('tools/call')).waitForClose()).toBe('aborted');
  });

  it.each(compressions)('is let go of where it is an event stream: %s', async (encoding, compress) => {
    const server = await serverThat((exchange) => {
      const body = Buffer.concat([compress(`data: ${replyTo(exchange)}\n\n`), Buffer.alloc(1_000)]);
      exchange.sse({ 'content-encoding': encoding }).write(body);
    });
    await using session = await connected(server.connection);
    expect(await session.call()).toMatchObject({ content: 'ok' });
    expect(await (await server.waitFor('tools/call')).waitForClose()).toBe('aborted');
  });
});

describe('R38: a `fetch` of the application whose headers are no more than a `get`', () => {
  it('has its session, also where `initialize` is answered by an event stream', async () => {
    const server = await startRawHttp({
      tools: [tool('a')],
      call: () => text('ok'),
      on: {
        initialize: (exchange) => {
          exchange.openSession();
          const { protocolVersion } = exchange.params;
          const serverInfo = { name: 'streams', version: '1.0.0' };
          exchange
            .sse()
            .reply({ protocolVersion, capabilities: { tools: {} }, serverInfo })
            .end();
        },
      },
    });
    const plain: HttpConnectionOptions['fetch'] = async (url, init) => {
      const response = await fetch(url, init);
      const { headers } = response;
      return Object.defineProperty(response, 'headers', { value: { get: (name: string) => headers.get(name) } });
    };
    expect(await callOnce({ ...server.connection, fetch: plain })).toMatchObject({ content: 'ok' });
    expect(server.deleted).toHaveLength(1);
  });
});

describe('R38: credentials go nowhere else', () => {
  it('although the global dispatcher follows redirects', async () => {
    const other = await startRawHttp();
    const server = await serverThat((exchange) => exchange.raw(307, { location: other.url }));
    const connection = { ...server.connection, headers: { 'x-api-key': 'secret' } };
    const execution = await through(new Agent({ maxRedirections: 3 }), () => callOnce(connection));
    expect(failureOf(execution).message).toContain('a redirect to another origin');
    expect(other.requests).toEqual([]);
  });

  it('nor is the host another than that of the URL', async () => {
    const server = await serverThat((exchange) => exchange.json(text('ok')));
    await callOnce({ ...server.connection, headers: { Host: 'other.example' } });
    expect(server.requests.map(({ headers }) => headers.host)).toEqual(
      server.requests.map(() => new URL(server.url).host),
    );
  });
});

describe('R28: a run that has ended', () => {
  it('opens no connection, also where a signer goes on', async () => {
    let dispatched = 0;
    class Counting extends Agent {
      override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandlers): boolean {
        dispatched += 1;
        return super.dispatch(options, handler);
      }
    }
    await through(new Counting(), async () => {
      const run = container.resolve(RunFactory).start();
      let sign = (): void => undefined;
      const signed = new Promise<void>((resolve) => (sign = resolve));
      const signing = new Promise<void>((begun) => {
        const toolset = toolsetFor({ url: 'https://mcp.example/', signer: () => (begun(), signed) });
        void rejectionOf(run.resolve(ToolRegistry).register(toolset)).then((error) =>
          expect(error).toBeInstanceOf(CancelledError),
        );
      });
      await signing;
      run.cancel();
      await run.close();
      sign();
      await setImmediate();
    });
    expect(dispatched).toBe(0);
  });

  it("had a signal that may have any number of listeners, which undici's own fetch asks for", async () => {
    await using run = container.resolve(RunFactory).start();
    expect(getMaxListeners(run.signal)).toBe(Infinity);
  });
});
