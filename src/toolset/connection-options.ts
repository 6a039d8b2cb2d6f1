import { z } from 'zod/v4';
import { ConfigurationError } from '../errors';
import { callable, checkOptions, count, milliseconds } from '../options';
import type { ConnectionOptions, HttpConnectionOptions, StdioConnectionOptions } from './client-source';

const headersSchema = z.record(z.string(), z.string({ error: 'expected a string' })).superRefine((headers, context) => {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string' || isHeader(name, value)) continue;
    context.addIssue({ code: 'custom', path: [name], message: 'is not a valid HTTP header' });
  }
});

function isHeader(name: string, value: string): boolean {
  try {
    new Headers([[name, value]]);
    return true;
  } catch {
    return false;
  }
}

const httpSchema = z.strictObject({
  url: z.union([z.string(), z.instanceof(URL)], { error: 'expected a URL' }),
  headers: headersSchema.optional(),
  timeout: milliseconds.optional(),
  allowInsecureHttp: z.boolean().optional(),
  signer: callable.optional(),
  authProvider: z
    .custom((value) => callable.safeParse((Object(value) as { tokens?: unknown }).tokens).success, {
      error: 'expected an OAuthClientProvider',
    })
    .optional(),
  maxResponseBytes: count.optional(),
  fetch: callable.optional(),
});

/** A string that can be given to a process. Checked here, as Node.js would quote the whole of it in its error. */
const processText = z
  .string({ error: 'expected a string' })
  .refine((text) => !text.includes('\0'), { error: 'holds a null character' });

const stdioSchema = z.strictObject({
  command: processText.min(1, { error: 'expected the name of an executable' }),
  args: z.array(processText).optional(),
  env: z.record(z.string(), processText).optional(),
  maxMessageBytes: count.optional(),
  cwd: processText.min(1).optional(),
  timeout: milliseconds.optional(),
});

/** Whether connection options are for Streamable HTTP. */
export function isHttp(options: ConnectionOptions): options is HttpConnectionOptions {
  return isGiven(options, 'url');
}

/**
 * Checks connection options, at declaration or when a function has returned them.
 * @throws ConfigurationError that names the toolset and every fault, without a header's or variable's value
 */
export function checkConnection(options: unknown, toolset: string): ConnectionOptions {
  const where = `Toolset ${toolset}, option "connection"`;
  if (typeof options !== 'object' || options === null || isGiven(options, 'url') === isGiven(options, 'command')) {
    throw new ConfigurationError(
      `${where}: expected either { url, … } for Streamable HTTP or { command, … } for stdio.`,
      { toolset },
    );
  }
  if ('command' in options)
    return checkOptions(stdioSchema as z.ZodType<StdioConnectionOptions>, options, { where, toolset });
  const http = checkOptions(httpSchema as unknown as z.ZodType<HttpConnectionOptions>, options, { where, toolset });
  checkUrl(http, where, toolset);
  return http;
}

function isGiven(options: object, key: 'url' | 'command'): boolean {
  return (options as Partial<Record<typeof key, unknown>>)[key] !== undefined;
}

function checkUrl({ url, allowInsecureHttp }: HttpConnectionOptions, where: string, toolset: string): void {
  const fail = (message: string): never => {
    throw new ConfigurationError(`${where}: ${message}`, { toolset });
  };
  const parsed = URL.canParse(String(url))
    ? new URL(url)
    : fail('"url" is not a URL; expected one such as https://host/mcp.');
  if (parsed.username !== '' || parsed.password !== '') {
    fail('"url" holds a user name or password; send credentials in "headers".');
  }
  if (parsed.protocol === 'https:') return;
  if (parsed.protocol !== 'http:') fail(`"url" has the scheme ${parsed.protocol}; expected https:.`);
  if (!allowInsecureHttp) {
    fail('"url" is not https:, so credentials would travel in the clear; set allowInsecureHttp to allow it.');
  }
}
