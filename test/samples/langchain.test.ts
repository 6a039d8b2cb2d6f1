import { runSample } from './run-sample';

/** The sample as `npm run sample:langchain` starts it. */
it('has an agent make calls, and shows what came of each', async () => {
  const { stdout, stderr } = await runSample('adapters/langchain.js', 'sample:langchain');
  expect(stderr).toBe('');
  expect(stdout).toContain('get-sum (success): The sum of 19 and 23 is 42.');
  expect(stdout).toContain('get-sum (error): Error: ');
  expect(stdout).toMatch(/get-tiny-image \(success\): .*\[image\].*artifacts: image\/png/);
  expect(stdout).toMatch(/ai: I made 3 calls\.\n$/);
}, 180_000);
