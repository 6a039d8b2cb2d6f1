import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { built } from '../build/built';
import { childrenOf, isAlive } from '../servers';

/** The quickstart as a user starts it, but for the build, which is the one of all tests and what `npm start` does first. */
const MAIN = 'samples/dist/quickstart/main.js';
const START = ['start', '--ignore-scripts'];
let folder: string;
let logoFile: string;

interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A started sample, with what it has written so far. */
class Started {
  readonly child: ChildProcess;
  private stdout = '';
  private stderr = '';
  private readonly closed: Promise<unknown[]>;

  constructor(command: string, args: readonly string[]) {
    const env = { ...process.env, npm_config_update_notifier: 'false' };
    this.child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.closed = once(this.child, 'close');
  }

  async wrote(text: string): Promise<void> {
    while (!this.stdout.includes(text)) {
      await Promise.race([once(this.child.stdout ?? this.child, 'data'), this.closed]);
      if (this.child.exitCode !== null && !this.stdout.includes(text)) throw new Error(`it ended: ${this.stderr}`);
    }
  }

  async finished(): Promise<Finished> {
    const [code] = (await this.closed) as [number | null];
    return { code, stdout: this.stdout, stderr: this.stderr };
  }
}

let output: Finished;
let logo: Buffer;

/** What stands under a heading. */
function part(heading: string): string {
  const parts = output.stdout.split(/\n(?=[^\n]+\n─+\n)/);
  const found = parts.find((text) => text.startsWith(heading));
  if (found === undefined) throw new Error(`no part "${heading}" in:\n${output.stdout}`);
  return found;
}

/** The rows of a table, cell by cell. */
function rows(text: string): string[][] {
  return text.split('\n').map((line) => line.trim().split(/ {2,}/));
}

/** What follows each call, without the breaks and the indentation. */
function answers(text: string): string[] {
  const calls = text.split(/\n\n/).slice(1);
  return calls.map((call) => call.replace(/\s+/g, ' ').trim());
}

beforeAll(async () => {
  folder = await built();
  logoFile = join(folder, 'samples/dist/quickstart/logo.png');
  output = await new Started('npm', START).finished();
  logo = await readFile(logoFile).catch(() => Buffer.alloc(0));
}, 180_000);

describe('npm start', () => {
  it('ends with code 0 and complains about nothing', () => {
    expect({ code: output.code, stderr: output.stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('writes no colours to a pipe, and no line that is wider than 100 columns', () => {
    expect(output.stdout).not.toContain('\u001B');
    expect(output.stdout.split('\n').filter((line) => !line.startsWith('>') && line.length > 100)).toEqual([]);
  });

  it('names its servers, on 127.0.0.1 and in a temporary folder that is gone afterwards', () => {
    const servers = rows(part('The servers'));
    const http = ['DemoTools', 'Streamable HTTP', 'server-everything'];
    expect(servers).toContainEqual([...http, expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)]);
    const folder = servers.find(([toolset]) => toolset === 'FileTools')?.[3] ?? '';
    expect(folder).toContain('quickstart-');
    expect(existsSync(folder)).toBe(false);
  });

  it('shows what the model sees: names, descriptions and schemas, one of them in full', () => {
    const text = part('What the model sees');
    expect(rows(text)).toContainEqual(['echo', 'Echoes back the input string']);
    expect(rows(text)).toContainEqual(['weather', 'The weather in a city, now']);
    expect(text).toContain('{ location: "New York" | "Chicago" | "Los Angeles" }');
    expect(text).toContain('{ path: string, tail?: number, head?: number }');
    expect(rows(text)).toContainEqual(['order_status', "The status of one of the user's own orders"]);
    expect(text).toContain("properties: { orderId: { type: 'string', pattern: '^A-\\\\d+$' } },");
  });

  it('R7, R16: shows what @MapTool renamed and omitted, and the prefix', () => {
    const text = part('What @MapTool');
    expect(rows(text)).toContainEqual(['get-structured-content', '→', 'weather']);
    expect(rows(text)).toContainEqual(['read_text_file', '→', 'files_read_text_file']);
    expect(text).toMatch(/omitted +get-env/);
  });

  it('R10: shows what @OnError was told of the server that is down', () => {
    const text = part('An optional toolset').replace(/\s+/g, ' ');
    expect(text).toContain('ProviderError: Toolset ArchiveTools, initialize: the server cannot be reached');
    expect(text).toContain('goes on with the 10 tools of the others');
  });

  it('R20: answers with text and with structured content', () => {
    expect(answers(part('Calls: text'))).toEqual([
      'call echo {"message":"Hello, tools!"} success Echo: Hello, tools!',
      'call add {"a":19,"b":23} success The sum of 19 and 23 is 42.',
    ]);
    expect(answers(part('Calls: structured'))).toEqual([
      expect.stringMatching(/Chicago"\} success \{"temperature":\d+,"conditions":"[^"]+","humidity":\d+\}$/),
      expect.stringMatching(/New York"\} success \{"temperature":\d+,"conditions":"[^"]+","humidity":\d+\}$/),
    ]);
  });

  it('R22: answers with what @MapResult made of the result', () => {
    expect(answers(part('Calls: @MapResult'))).toEqual([
      expect.stringMatching(/^call files_write_file .* success Successfully wrote to notes\.txt$/),
      'call files_read_text_file {"path":"notes.txt"} success Buy milk. Call Grace.',
      'call files_list_directory {"path":"."} success [FILE] notes.txt',
      'call files_search_files {"path":".","pattern":"*.txt"} success <workspace>/notes.txt',
    ]);
  });

  it('R21: writes the bytes of an image to a file', () => {
    const [answer] = answers(part('Calls: an image'));
    expect(answer).toMatch(/artifact image\/png, \d+ bytes, written to samples\/dist\/quickstart\/logo\.png$/);
    expect(answer).toContain(` ${logo.byteLength} bytes`);
    expect(logo.subarray(0, 8)).toEqual(Buffer.from('\x89PNG\r\n\x1A\n', 'latin1'));
    expect(logo.subarray(-8, -4).toString()).toBe('IEND');
  });

  it("R41: gives a local tool its run's user", () => {
    expect(answers(part('Calls: a local tool'))).toEqual([
      'call order_status {"orderId":"A-1001"} success {"id":"A-1001","status":"shipped","arrives":"Friday"}',
    ]);
  });

  it('R19, R23, R26: answers a call that fails with an error for the model', () => {
    expect(answers(part('Calls that fail'))).toEqual([
      expect.stringMatching(
        /error Access denied - path outside allowed directories: \/etc\/passwd not in <workspace>$/,
      ),
      expect.stringMatching(/error .*Invalid arguments for tool get-structured-content: .*at location$/),
      'call order_status {"orderId":"A-9"} error There is no order A-9.',
      expect.stringMatching(/error Invalid tool input: .*\("express"\); \/orderId must match pattern "\^A-\\d\+\$"\.$/),
      'call delete_everything {} error Unknown tool: delete_everything',
      'call get-env {} error Unknown tool: get-env',
    ]);
  });

  it('R34: leaves no session and no child process', () => {
    expect(rows(part('Nothing is left'))).toEqual([
      ['Nothing is left'],
      [expect.stringMatching(/^─+$/)],
      ['sessions', 'child processes'],
      ['while the run is open', '2', '2'],
      ['after it has closed', '0', '1'],
      ['after the sample has stopped its own server', '0', '0'],
      [''],
    ]);
  });
});

describe('the quickstart, when it cannot go on', () => {
  it.each([
    ['its server starts', 'mcp-toolset quickstart'],
    ['its toolsets connect', 'The servers'],
  ])('ends on SIGTERM while %s, and leaves nothing', async (_, line) => {
    const started = new Started(process.execPath, [MAIN]);
    await started.wrote(line);
    const children = childrenOf(started.child.pid);
    started.child.kill('SIGTERM');
    const { code, stdout, stderr } = await started.finished();
    expect(stdout).not.toContain('Nothing is left');
    expect(stderr).toBe('\nStopped by SIGTERM.\nLeft: 0 sessions, 0 child processes.\n');
    expect(code).toBe(143);
    expect(children.filter(({ pid }) => isAlive(pid))).toEqual([]);
  });

  it('ends when npm is told to end', async () => {
    const started = new Started('npm', START);
    await started.wrote('The servers');
    const children = childrenOf(started.child.pid);
    expect(children.map(({ command }) => command)).toContainEqual(expect.stringContaining('server-everything'));
    started.child.kill('SIGTERM');
    const { stderr } = await started.finished();
    expect(stderr).toContain('Stopped by SIGTERM.\nLeft: 0 sessions, 0 child processes.');
    expect(children.filter(({ pid }) => isAlive(pid))).toEqual([]);
  });

  it('ends with a code that is not 0 when something fails in the middle, and leaves nothing', async () => {
    await rm(logoFile, { force: true });
    await mkdir(logoFile); // so the image cannot be written
    try {
      const started = new Started(process.execPath, [MAIN]);
      const { code, stdout, stderr } = await started.finished();
      expect(code).toBe(1);
      expect(stderr).toContain('EISDIR');
      expect(stderr).toContain('Left: 0 sessions, 0 child processes.');
      expect(stdout).toContain('Calls: an image');
    } finally {
      await rm(logoFile, { recursive: true });
    }
  });
});
