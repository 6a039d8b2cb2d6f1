import 'reflect-metadata';
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { container } from 'tsyringe';
import { RunFactory } from 'mcp-toolset';
import { createTestServer, overrideClient } from 'mcp-toolset/testing';
import { HelpCenterTools, SupportController } from '../help-center';

test('the controller finds articles', async () => {
  const server = createTestServer({
    tools: { search: { call: ({ query }) => ({ articles: [{ title: `About ${String(query)}` }] }) } },
  });
  const scope = container.createChildContainer();
  overrideClient(scope, HelpCenterTools, server);

  await using run = scope.resolve(RunFactory).start({ actorId: 'ada' });
  const { status, content } = await run.resolve(SupportController).find('refunds');

  assert.deepEqual({ status, content }, { status: 'success', content: '["About refunds"]' });
  assert.deepEqual(server.calls, [{ name: 'search', arguments: { query: 'refunds' } }]);
});
