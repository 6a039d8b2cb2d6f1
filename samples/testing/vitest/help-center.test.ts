import 'reflect-metadata';
import { container } from 'tsyringe';
import { expect, test } from 'vitest';
import { RunFactory } from 'mcp-toolset';
import { createTestServer, overrideClient, type TestServer } from 'mcp-toolset/testing';
import { HelpCenterTools, SupportController } from '../help-center';

/** A run of the application, with a server in the place of the help center's. */
function startRun(server: TestServer) {
  const scope = container.createChildContainer(); // keeps the override out of other tests
  overrideClient(scope, HelpCenterTools, server);
  return scope.resolve(RunFactory).start({ actorId: 'ada' });
}

test('the controller finds articles', async () => {
  const server = createTestServer({
    tools: { search: { call: ({ query }) => ({ articles: [{ title: `About ${String(query)}` }] }) } },
  });
  await using run = startRun(server);

  const found = await run.resolve(SupportController).find('refunds');

  expect(found).toMatchObject({ status: 'success', content: '["About refunds"]' });
  expect(server.calls).toEqual([{ name: 'search', arguments: { query: 'refunds' } }]);
});

test('the model is told why there are none', async () => {
  const rebuilding = () => {
    throw new Error('The index is being rebuilt.');
  };
  await using run = startRun(createTestServer({ tools: { search: { call: rebuilding } } }));

  const found = await run.resolve(SupportController).find('refunds');

  expect(found).toMatchObject({ status: 'error', content: 'The index is being rebuilt.' });
});
