import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Before all test files: names the folder of `built()`, empty as yet, to every worker. */
function setUp(): void {
  process.env.MCP_TOOLSET_BUILD = mkdtempSync(join(tmpdir(), 'mcp-toolset-build-'));
}

export = setUp;
