import { NAMES, thing } from './things';

test.each(NAMES)('%s', async (name) => {
  const { actual, expected } = await thing(name);
  expect(actual).toEqual(expected);
});
