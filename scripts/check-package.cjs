// Packs the package into a temporary folder and has publint and attw judge the tarball that users would install.
const { execFileSync, execSync } = require('node:child_process');
const { mkdtempSync, readdirSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { dirname, join } = require('node:path');

const root = join(__dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'mcp-toolset-pack-'));

/** Runs a tool of node_modules by its `bin`, without a shell, so that paths need no quoting on any system. */
function tool(name, command, ...args) {
  const manifest = join(root, 'node_modules', name, 'package.json');
  const { bin } = require(manifest);
  const script = join(dirname(manifest), typeof bin === 'string' ? bin : bin[command]);
  execFileSync(process.execPath, [script, ...args], { cwd: root, stdio: 'inherit' });
}

try {
  // `npm pack` runs `prepack`, so what is judged is always a fresh build. (One command line and a shell, because npm is
  // a script on Windows.)
  execSync(`npm pack --silent --pack-destination "${folder}"`, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  const tarball = join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.tgz')),
  );
  tool('publint', 'publint', 'run', tarball, '--strict');
  // The strict profile: node10 (main and typesVersions), node16 from CommonJS and from ES modules, and bundlers. Its
  // only exception is that ES modules get the one CommonJS build, which is what we mean to ship.
  tool('@arethetypeswrong/cli', 'attw', tarball, '--profile', 'strict', '--no-emoji', '--no-color');
} catch (error) {
  console.error(`package:check failed: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
