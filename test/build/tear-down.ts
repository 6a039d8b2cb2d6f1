import { rmSync } from 'node:fs';

/** After all test files. */
function tearDown(): void {
  rmSync(process.env.MCP_TOOLSET_BUILD ?? '', { recursive: true, force: true });
}

export = tearDown;
