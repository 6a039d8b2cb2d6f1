import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { NAMES, thing } from './things';

/** Without the bytes of an execution and the stack of an error, as docs/testing.md says. */
function picked(value: unknown): unknown {
  if (value instanceof Error) return { name: value.name, message: value.message };
  const { status, content } = Object(value) as { status?: string; content?: string };
  return status === undefined ? value : { status, content };
}

for (const name of NAMES) {
  test(name, async () => {
    const { actual, expected } = await thing(name);
    assert.deepEqual(picked(actual), picked(expected));
  });
}
