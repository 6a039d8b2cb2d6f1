import { closeRunsAfterEach, gate } from '../contract/live-run';
import { closeServersAfterEach, rawStdio, tool } from '../servers';
import { scene } from './asking';

closeServersAfterEach();
closeRunsAfterEach();

const ROUNDS = 5;

it('requests that a server takes back count for as long as their handlers work', async () => {
  const server = await rawStdio({ tools: [tool('x')], data: { asked: 0 } });
  const end = gate();
  let running = 0;
  const roots = async (): Promise<[]> => {
    running += 1;
    await end.passed;
    return [];
  };
  await scene(server, { roots }, { limits: { maxServerRequests: 1 } });
  for (let round = 1; round <= ROUNDS; round += 1) {
    await server.tell(({ data, request }) => request(`ask-${(data.asked += 1)}`, 'roots/list'));
    // The reply to a request of the server shows that all that came before it has been taken in.
    await server.tell(({ data, request }) => request(`ping-${data.asked}`, 'ping'));
    await server.waitFor(({ message }) => (message as { id?: unknown } | undefined)?.id === `ping-${round}`);
    await server.tell(({ data, notify }) => notify('notifications/cancelled', { requestId: `ask-${data.asked}` }));
  }
  end.open();
  expect(running).toBe(1);
});
