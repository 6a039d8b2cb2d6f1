import type { LogNotification } from 'mcp-toolset';
import { closeRunsAfterEach, gate } from '../contract/live-run';
import { closeServersAfterEach, rawStdio, startRawHttp, text, tool, waitForNoChildren } from '../servers';
import { scene } from './asking';

closeServersAfterEach();
closeRunsAfterEach();
afterEach(() => waitForNoChildren());

let counting: NodeJS.Immediate | undefined;
afterEach(() => clearImmediate(counting));

const FLOOD = 5_000;
const MOST_IN_A_TURN = 100;
/** Many short ones, of which a piece of a stream holds hundreds, and as many of which it holds less than a hundred. */
const LINES = Array.from({ length: FLOOD }, (_, data) => ({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', logger: 'x'.repeat(data < FLOOD / 2 ? 1 : 700), data },
}));
const ALL = LINES.map(({ params }) => params.data);
const EVENTS = LINES.map((line) => `data: ${JSON.stringify(line)}\n\n`).join('');

/** A handler that notes at which turn of the process it is told what. */
function witness() {
  const told: unknown[] = [];
  const byTurn = new Map<number, number>();
  const full = gate();
  let turn = 0;
  const count = (): void => {
    turn += 1;
    counting = setImmediate(count);
  };
  count();
  const log = ({ data }: LogNotification): void => {
    byTurn.set(turn, (byTurn.get(turn) ?? 0) + 1);
    if (told.push(data) === FLOOD) full.open();
  };
  return { log, told, full, most: () => Math.max(...byTurn.values()), turns: () => turn };
}

describe('R38: a flood of events leaves the rest of the process its turns', () => {
  it('on the stream of a call, before the reply', async () => {
    const { log, told, most } = witness();
    const server = await startRawHttp({
      tools: [tool('x')],
      call: (_params, exchange) => void exchange.sse().write(EVENTS).reply(text('done')).end(),
    });
    const { registry } = await scene(server, { log });
    expect(await registry.execute({ name: 'x' })).toMatchObject({ content: 'done' });
    expect(told).toEqual(ALL);
    expect(most()).toBeLessThanOrEqual(MOST_IN_A_TURN);
  });

  it('on the standing stream', async () => {
    const { log, told, full, most } = witness();
    const server = await startRawHttp({
      tools: [tool('x')],
      on: { GET: (exchange) => void exchange.sse().write(EVENTS) },
    });
    await scene(server, { log });
    await full.passed;
    expect(told).toEqual(ALL);
    expect(most()).toBeLessThanOrEqual(MOST_IN_A_TURN);
  });
});

describe('R38: a flood of lines that are no events', () => {
  it('leaves the rest of the process its turns too', async () => {
    const LINES_IN_A_TURN = 200;
    const { log, turns } = witness();
    const server = await startRawHttp({
      tools: [tool('x')],
      call: (_params, exchange) =>
        void exchange
          .sse()
          .write('x\n'.repeat(10 * FLOOD))
          .reply(text('done'))
          .end(),
    });
    const { registry } = await scene(server, { log });
    const before = turns();
    expect(await registry.execute({ name: 'x' })).toMatchObject({ content: 'done' });
    expect(turns() - before).toBeGreaterThanOrEqual((10 * FLOOD) / LINES_IN_A_TURN);
  });
});

describe('R39: a child that asks without end and reads no answers', () => {
  it('is not answered any more until it reads, and loses nothing else', async () => {
    const ASKED = 10_000;
    const ask = (_: unknown, id: number): string =>
      `${JSON.stringify({ jsonrpc: '2.0', id: `${id}`.padStart(200), method: 'ping' })}\n`;
    const server = await rawStdio({
      tools: [tool('x')],
      data: Array.from({ length: ASKED }, ask).join(''),
      call: ({ arguments: { asks } = {} }, { data }) => {
        // It reads again when all of this is written, and by then most of it has been read.
        const { writeSync } = process.getBuiltinModule('node:fs');
        for (let rest = Buffer.from(asks === true ? data : ''); rest.length > 0;) {
          try {
            rest = rest.subarray(writeSync(1, rest));
          } catch (error) {
            if ((error as { code?: unknown }).code !== 'EAGAIN') throw error;
          }
        }
        return { content: [{ type: 'text', text: 'done' }] };
      },
    });
    const { registry } = await scene(server, {});
    expect(await registry.execute({ name: 'x', input: { asks: true } })).toMatchObject({ content: 'done' });
    expect(await registry.execute({ name: 'x' })).toMatchObject({ content: 'done' });
    const answers = (): number => server.received.filter(({ method }) => method === 'response').length;
    const before = answers();
    expect(before).toBeLessThan(ASKED / 2);
    await server.tell((exchange) => exchange.request('later', 'ping'));
    await server.waitFor('response', before + 1);
  });
});

describe('R39: a flood of messages leaves the rest of the process its turns', () => {
  const flooding = (exits: boolean, lines = LINES) =>
    rawStdio({
      tools: [tool('x')],
      data: { lines: lines.map((line) => `${JSON.stringify(line)}\n`).join(''), exits },
      call: (_params, { data, id, write, exit }) => {
        const result = { content: [{ type: 'text', text: 'done' }] };
        write(`${data.lines}${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
        if (data.exits) exit(0);
      },
    });

  it('by a child that lives on', async () => {
    const { log, told, full, most } = witness();
    const { registry } = await scene(await flooding(false), { log });
    expect(await registry.execute({ name: 'x' })).toMatchObject({ content: 'done' });
    await full.passed;
    expect(told).toEqual(ALL);
    expect(most()).toBeLessThanOrEqual(MOST_IN_A_TURN);
  });

  it('and what is left when the child has exited is not lost', async () => {
    const { log, told, full } = witness();
    const { registry } = await scene(await flooding(true), { log });
    expect(await registry.execute({ name: 'x' })).toMatchObject({ content: 'done' });
    await full.passed;
    expect(told).toEqual(ALL);
  });

  it.each([300, 2_000])('also in a process that is too busy to read %i for a while', async (lines) => {
    const server = await flooding(true, LINES.slice(0, lines));
    const log = ({ data }: LogNotification): void => {
      const milliseconds = Number(data) % 500 === 499 ? 600 : 50;
      if (Number(data) % 100 === 99) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
    };
    const { registry } = await scene(server, { log });
    expect(await registry.execute({ name: 'x' })).toMatchObject({ content: 'done' });
  });
});
