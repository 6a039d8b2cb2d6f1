import { createInterface } from 'node:readline';
import { answers } from './answers.mjs';

// A server over stdio: `node stdio.mjs <tools> <schemas or plain>`.
const [, , tools, schemas] = process.argv;
const answer = answers({ tools: Number(tools), schemas: schemas === 'schemas' });

for await (const line of createInterface({ input: process.stdin })) {
  const reply = answer(JSON.parse(line));
  if (reply !== undefined) process.stdout.write(`${reply}\n`);
}
