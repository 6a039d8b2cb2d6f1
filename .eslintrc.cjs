// The floors of src/ come from floors.json, lowest first; test/house.test.ts reads the same list and proves it a second
// time from the imports themselves (it also sees `import()`, `require` and circles, which no rule here can).
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { floors, apart, frameworks, mayImportSdk, mayUseReflect, mayUseConsole, maxLines } = require('./floors.json');

/** The files of a floor: one file or a whole folder. */
const filesOf = (floor) => [`src/${floor}.ts`, `src/${floor}/**/*.ts`];

const DEFAULT_EXPORT = {
  selector: 'ExportDefaultDeclaration',
  message: 'Export by name: a default export has another name in each file that imports it.',
};

/** Import patterns by which a file of `floor` would reach `target`, a floor above it. */
function pathsTo(target, floor) {
  if (target === 'index') return ['../index', '../index.js', ...(floor.includes('/') ? ['../../index*'] : [])];
  const [folder, inner] = target.split('/');
  // Inside mcp/ a sibling is imported as './connection/x' or '../connection/x', so its own folder is not in the path.
  const names = inner && floor.startsWith(`${folder}/`) ? [inner] : [target];
  return names.flatMap((name) => [`**/${name}`, `**/${name}.js`, `**/${name}/**`]);
}

/** What a file of `floor` may not import: every floor above its own, and the SDK except where it is at home. */
function importLimits(floor) {
  const above = floors.slice(floors.indexOf(floor) + 1);
  const patterns = [];
  for (const target of above) {
    const message = `'${floor}' may not import '${target}': it is a floor above (floors.json).`;
    // One message is enough: `mcp` speaks for what is inside it.
    if (above.some((other) => target.startsWith(`${other}/`))) continue;
    // `mcp` is above `mcp/connection`, but its folder name is not in the path between them.
    if (floor.startsWith(`${target}/`)) {
      const below = floors.slice(0, floors.indexOf(floor)).filter((name) => name.startsWith(`${target}/`));
      // A floor that is a folder reaches its siblings by '../', one that is a file by './'.
      const up = existsSync(join(__dirname, 'src', floor)) ? '../' : './';
      const names = below.map((name) => name.slice(target.length + 1));
      const group = [`${up}*`, ...names.flatMap((name) => [`!${up}${name}`, `!${up}${name}.js`]), '!../..', '!..'];
      patterns.push({ group, message });
    } else {
      patterns.push({ group: pathsTo(target, floor), message });
    }
  }
  if (apart.includes(floor)) {
    const message = `'${floor}' may not import another entry: they stand side by side (floors.json).`;
    const others = apart.filter((other) => !above.includes(other) && other !== floor && other !== 'index');
    if (others.length > 0) patterns.push({ group: others.flatMap((other) => pathsTo(other, floor)), message });
  }
  for (const [framework, entry] of Object.entries(frameworks)) {
    const message = `Only ${entry} may import ${framework}: an application that does not use it need not have it.`;
    if (floor !== entry) patterns.push({ group: [framework, `${framework}/*`], message });
  }
  if (!mayImportSdk.includes(floor)) {
    patterns.push({
      group: ['@modelcontextprotocol/*', '@modelcontextprotocol/*/**'],
      message: `Only ${mayImportSdk.join(', ')} may import the SDK: see mcp/official-client.ts.`,
    });
  }
  patterns.push({ group: ['mcp-toolset', 'mcp-toolset/*'], message: 'Import the file itself, not the package.' });
  return patterns;
}

const REFLECT = 'Metadata is read and written in toolset/metadata.ts only.';

module.exports = {
  root: true,
  parser: '@typescript-eslint/parser',
  parserOptions: {
    // With `project`, consistent-type-imports learns from tsconfig.json that decorators emit metadata and leaves every
    // file that has a decorator alone. It has to: `import type` of an injected class would make tsyringe see `Function`.
    project: './tsconfig.json',
    tsconfigRootDir: __dirname,
  },
  plugins: ['@typescript-eslint'],
  extends: [
    'eslint:recommended',
    'plugin:@typescript-eslint/recommended-type-checked',
    'plugin:@typescript-eslint/stylistic-type-checked',
    'prettier',
  ],
  // The applications of test/apps have tsconfigs of their own, and the test that builds them has tsc check them against
  // the packed package; here `mcp-toolset` would mean the sources.
  ignorePatterns: ['dist', 'coverage', 'node_modules', 'test/apps', '*.cjs', '*.js'],
  reportUnusedDisableDirectives: true,
  rules: {
    '@typescript-eslint/no-explicit-any': 'error',
    // A test of node's runner is a promise that the runner waits for.
    '@typescript-eslint/no-floating-promises': [
      'error',
      { allowForKnownSafeCalls: [{ from: 'package', name: 'test', package: 'node:test' }] },
    ],
    '@typescript-eslint/no-misused-promises': 'error',
    '@typescript-eslint/consistent-type-imports': 'error',
    '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    // `||` is meant where an empty string or 0 stands for "nothing".
    '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true, number: true } }],
    // Types and interfaces read differently; neither is always right.
    '@typescript-eslint/consistent-type-definitions': 'off',
    // An async function without await still turns a throw into a rejection, which is often its purpose.
    '@typescript-eslint/require-await': 'off',
    'no-restricted-syntax': ['error', DEFAULT_EXPORT],
    eqeqeq: ['error', 'always', { null: 'ignore' }],
  },
  overrides: [
    {
      files: ['src/**/*.ts'],
      rules: {
        'max-lines': ['error', { max: maxLines, skipBlankLines: true, skipComments: true }],
        'max-lines-per-function': ['error', { max: 40, skipBlankLines: true, skipComments: true }],
        'max-params': ['error', 3],
        'no-console': 'error',
        'no-restricted-globals': ['error', { name: 'Reflect', message: REFLECT }],
        'no-restricted-properties': ['error', { object: 'globalThis', property: 'Reflect', message: REFLECT }],
        '@typescript-eslint/explicit-module-boundary-types': 'error',
      },
    },
    ...floors.map((floor) => ({
      files: filesOf(floor),
      // A floor inside another one (mcp/connection in mcp) is judged by its own limits.
      excludedFiles: floors.filter((other) => other.startsWith(`${floor}/`)).flatMap(filesOf),
      rules: { 'no-restricted-imports': ['error', { patterns: importLimits(floor) }] },
    })),
    {
      files: mayUseReflect.flatMap(filesOf),
      rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' },
    },
    {
      // The default logger writes warnings and errors to the console; nothing else does.
      files: mayUseConsole.flatMap(filesOf),
      rules: { 'no-console': 'off' },
    },
    {
      files: ['test/**/*.ts'],
      rules: {
        // Jest's matchers (`expect.any`, `mock.calls`) and parsed JSON are typed `any`; a wrong one fails the test itself.
        '@typescript-eslint/no-unsafe-assignment': 'off',
        '@typescript-eslint/no-unsafe-member-access': 'off',
        '@typescript-eslint/no-unsafe-argument': 'off',
        // `expect(object.method)` never calls the method.
        '@typescript-eslint/unbound-method': 'off',
        // Stand-ins that do nothing are what a test often needs.
        '@typescript-eslint/no-empty-function': 'off',
        // Tests reject with odd values on purpose, to see what the library makes of them.
        '@typescript-eslint/only-throw-error': 'off',
        '@typescript-eslint/prefer-promise-reject-errors': 'off',
      },
    },
    {
      // Plain JavaScript, which no tsconfig knows.
      files: ['bench/**/*.mjs'],
      env: { node: true, es2023: true },
      parserOptions: { project: null, sourceType: 'module' },
      extends: ['plugin:@typescript-eslint/disable-type-checked'],
    },
    {
      files: ['samples/**/*.ts', 'conformance/*.ts'],
      rules: {
        'no-restricted-imports': [
          'error',
          { patterns: [{ group: ['**/src/**', '**/dist/**'], message: "Import 'mcp-toolset', as a user would." }] },
        ],
      },
    },
  ],
};
