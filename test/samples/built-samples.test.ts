import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { built } from '../build/built';

/** Samples as their npm scripts start them. */
let folder: string;

beforeAll(async () => {
  folder = await built();
}, 180_000);

it('every sample is built first, and is then the process that npm tells to end', async () => {
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  const { scripts } = JSON.parse(text) as { scripts: Record<string, string> };
  const samples = Object.keys(scripts).filter((name) => /^(start|sample:.*)$/.test(name));
  expect(samples).toEqual(expect.arrayContaining(['start', 'sample:langchain', 'sample:express-service']));
  for (const name of samples) {
    expect(scripts[`pre${name}`]).toBe('npm run --silent build:samples');
    if (name === 'sample:testing') continue; // it runs tests, and nothing that goes on
    // The second is for systems without `exec`.
    expect(scripts[name]).toMatch(/^exec (node samples\/dist\/[\w/-]+\.js) \|\| \1$/);
  }
});

it('langchain: has an agent make calls, and shows what came of each', async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['samples/dist/adapters/langchain.js'], {
    cwd: folder,
  });
  expect(stderr).toBe('');
  expect(stdout).toContain('get-sum (success): The sum of 19 and 23 is 42.');
  expect(stdout).toContain('get-sum (error): Error: ');
  expect(stdout).toMatch(/get-tiny-image \(success\): .*\[image\].*artifacts: image\/png/);
  expect(stdout).toMatch(/ai: I made 3 calls\.\n$/);
});

describe('express-service', () => {
  let child: ChildProcess;
  afterEach(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  it('ends with an error where its port is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const PORT = String((taken.address() as AddressInfo).port);
    try {
      child = spawn(process.execPath, ['samples/dist/express-service/main.js'], {
        cwd: folder,
        env: { ...process.env, PORT },
      });
      let stderr = '';
      child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      expect(await once(child, 'close')).toEqual([1, null]);
      expect(stderr).toContain(`EADDRINUSE: address already in use 127.0.0.1:${PORT}`);
    } finally {
      taken.close();
    }
  }, 20_000);

  it('ends by itself at SIGTERM, an answer under way with it', async () => {
    const { ANTHROPIC_API_KEY: _, OPENAI_API_KEY: __, ...own } = process.env;
    const env = { ...own, PORT: '0', GRACE: '1' };
    child = spawn(process.execPath, ['samples/dist/express-service/main.js'], { cwd: folder, env });
    const written = { stdout: '', stderr: '' };
    child.stdout?.on('data', (chunk: Buffer) => (written.stdout += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (written.stderr += chunk.toString()));
    const closed = once(child, 'close');
    while (!written.stdout.includes('\n')) await once(child.stdout!, 'data');
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(written.stdout)?.[0] ?? '';
    expect(written.stdout).toContain('model: scripted stand-in');

    const post = (path: string, body: object, headers: object = {}) => {
      const init = { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers } };
      return fetch(url + path, { ...init, body: JSON.stringify(body) });
    };
    const Cookie = (await post('/session', { user: 'ada' })).headers.getSetCookie()[0] ?? '';
    const answer = await post('/ask', { question: 'count the stock' }, { Cookie });
    let text = '';
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      const called = text.includes('event: call');
      text += Buffer.from(chunk).toString();
      if (!called && text.includes('event: call')) child.kill('SIGTERM');
    }
    expect(text).toContain('event: error\ndata: {"message":"The service is stopping."}');
    expect(await closed).toEqual([0, null]);
    expect(written.stdout).toMatch(/SIGTERM: stopping\nStopped\. 0 sessions are open\.\n$/);
    expect(written.stderr).toBe('');
  });
});
