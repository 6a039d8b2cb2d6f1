import { load } from './contenders/index.mjs';
import { tasks } from './tasks.mjs';

// The process of one contender: `node --expose-gc contender-process.mjs <name>`. Its parent tells it what to do.
process.on('disconnect', () => process.exit());
const { open } = await load(process.argv[2]);

process.on('message', async ({ id, task, ...options }) => {
  try {
    process.send({ id, value: await tasks[task](open, options) });
  } catch (error) {
    process.send({ id, error: String(error?.stack ?? error) });
  }
});
process.send({ value: 'ready' });
