import { McpToolset, type ToolsetOptions } from 'mcp-toolset';
import { closeRunsAfterEach, discover, faultOf } from './started-run';

closeRunsAfterEach();

const HTTPS = { url: 'https://host.example/mcp' };

/** Declares a toolset with these options and no method. */
function declare(options: unknown): void {
  @McpToolset(options as ToolsetOptions)
  class Shop {}
  void Shop;
}

describe('R2: the option "connection"', () => {
  const where = /^Toolset Shop, (option "connection"|@McpToolset\(\)): /;
  const faulty: [string, unknown, RegExp][] = [
    ['null', null, /connection options, or a function/],
    ['a string', 'https://host.example', /connection options, or a function/],
    ['neither url nor command', {}, /either \{ url, … \}.*or \{ command, … \}/],
    ['both url and command', { ...HTTPS, command: 'node' }, /either \{ url, … \}.*or \{ command, … \}/],
    ['a url that is none', { url: 'host.example/mcp' }, /"url" is not a URL/],
    ['an empty url', { url: '' }, /"url" is not a URL/],
    ['a url of the wrong type', { url: 5 }, /"url": expected a URL/],
    ['http:', { url: 'http://host.example/mcp' }, /allowInsecureHttp/],
    ['http: where it is refused', { url: 'http://host.example', allowInsecureHttp: false }, /allowInsecureHttp/],
    ['another scheme', { url: 'ftp://host.example/' }, /scheme ftp:/],
    ['another scheme, insecurely', { url: 'ws://host.example/', allowInsecureHttp: true }, /scheme ws:/],
    ['allowInsecureHttp of the wrong type', { ...HTTPS, allowInsecureHttp: 1 }, /"allowInsecureHttp"/],
    ['an unknown HTTP option', { ...HTTPS, header: {} }, /unknown option "header"/],
    ['a stdio option with a url', { ...HTTPS, args: [] }, /unknown option "args"/],
    ['an HTTP option with a command', { command: 'node', headers: {} }, /unknown option "headers"/],
    ['headers that are no object', { ...HTTPS, headers: 'a: b' }, /"headers"/],
    ['an HTTP timeout of 0', { ...HTTPS, timeout: 0 }, /"timeout": expected a finite number/],
    ['an empty command', { command: '' }, /"command": expected the name of an executable/],
    ['a command of the wrong type', { command: ['node'] }, /"command"/],
    ['args that are no array', { command: 'node', args: '-v' }, /"args"/],
    ['an argument that is no string', { command: 'node', args: ['-e', 1] }, /"args.1"/],
    ['an empty cwd', { command: 'node', cwd: '' }, /"cwd"/],
    ['a stdio timeout of NaN', { command: 'node', timeout: NaN }, /"timeout": expected a finite number/],
  ];

  it.each(faulty)('refuses %s', async (_, connection, expected) => {
    const message = await faultOf(() => declare({ connection }));
    expect(message).toMatch(where);
    expect(message).toMatch(expected);
  });

  const secret = 'hunter2-s3cr3t';
  const secretive: [string, unknown, RegExp][] = [
    ['a header with a line break', { ...HTTPS, headers: { 'x-key': `${secret}\nb: c` } }, /"headers.x-key"/],
    ['a header with a null byte', { ...HTTPS, headers: { 'x-key': `${secret}\0` } }, /"headers.x-key"/],
    ['a header outside Latin-1', { ...HTTPS, headers: { 'x-key': `${secret}✓` } }, /"headers.x-key"/],
    ['a header that is an array', { ...HTTPS, headers: { 'x-key': [secret] } }, /"headers.x-key": expected a string/],
    [
      'a header that is an object',
      { ...HTTPS, headers: { 'x-key': { secret } } },
      /"headers.x-key": expected a string/,
    ],
    ['a header name that is none', { ...HTTPS, headers: { 'x key': secret } }, /"headers.x key"/],
    [
      'a url with a password',
      { url: `https://user:${secret}@host.example/mcp` },
      /"url" holds a user name or password/,
    ],
    ['a url with a user name', { url: `https://${secret}@host.example/mcp` }, /"url" holds a user name or password/],
    ['a broken url with a password', { url: `https://user:${secret}@` }, /"url" is not a URL/],
    ['a variable that is no string', { command: 'node', env: { KEY: [secret] } }, /"env.KEY": expected a string/],
  ];

  it.each(secretive)('refuses %s without telling its value', async (_, connection, expected) => {
    for (const use of [() => declare({ connection }), () => returned(connection)]) {
      const message = await faultOf(use);
      expect(message).toMatch(where);
      expect(message).toMatch(expected);
      expect(message).not.toContain(secret);
    }
  });

  /** The same options, from a function. */
  async function returned(connection: unknown): Promise<void> {
    @McpToolset({ connection: () => connection as typeof HTTPS })
    class Shop {}
    await discover(Shop);
  }

  it('is told of at declaration, before any run', () => {
    expect(() => declare({ connection: { url: 'http://host.example' } })).toThrow(/allowInsecureHttp/);
    expect(() => declare({ connection: HTTPS })).not.toThrow();
    expect(() => declare({ connection: { url: new URL(HTTPS.url) } })).not.toThrow();
    expect(() => declare({ connection: { url: 'HTTPS://HOST.EXAMPLE' } })).not.toThrow();
  });
});
