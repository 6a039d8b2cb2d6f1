import { ProtocolError } from 'mcp-toolset';
import { closeServersAfterEach, startRawHttp, text, tool } from '../servers';
import { connected, failureOf } from './connected';

closeServersAfterEach();

describe('R38: an answer that comes on the wrong connection', () => {
  it('is none to a call of another run, though that has made the same requests before it', async () => {
    const answers: string[] = [];
    const server = await startRawHttp({
      tools: [tool('a')],
      on: {
        'tools/call': (exchange) => {
          const { id } = exchange;
          answers.push(JSON.stringify({ jsonrpc: '2.0', id, result: text(`the secret of run ${answers.length}`) }));
          exchange.raw(200, { 'content-type': 'application/json' }, answers[0]);
        },
      },
    });
    await using first = await connected(server.connection);
    await using second = await connected(server.connection);
    expect(await first.call()).toMatchObject({ content: 'the secret of run 0' });
    const execution = await second.call();
    expect(failureOf(execution)).toBeInstanceOf(ProtocolError);
    expect(execution.content).not.toContain('secret');
  });
});
