/** @type {import('jest').Config} */
module.exports = {
  // Node's, and it fails a test file that leaves a process, a socket or an unhandled rejection behind.
  testEnvironment: '<rootDir>/test/leak-environment.ts',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  transform: {
    '^.+\\.ts$': ['ts-jest', { tsconfig: '<rootDir>/tsconfig.json' }],
    // The SDK requires `jose`, which is an ES module: Node takes it, jest does not.
    '/node_modules/jose/.+\\.js$': [
      'ts-jest',
      { tsconfig: { allowJs: true, isolatedModules: true, module: 'commonjs', target: 'es2022' }, diagnostics: false },
    ],
  },
  transformIgnorePatterns: ['/node_modules/(?!jose/)'],
  moduleNameMapper: {
    '^mcp-toolset$': '<rootDir>/src/index.ts',
    '^mcp-toolset/(anthropic|langchain|openai|ai-sdk|openai-agents)$': '<rootDir>/src/adapters/$1/index.ts',
    '^mcp-toolset/testing$': '<rootDir>/src/testing/index.ts',
  },
  setupFiles: ['reflect-metadata'],
  // One build for all test files that need one: test/build/built.ts.
  globalSetup: '<rootDir>/test/build/set-up.ts',
  globalTeardown: '<rootDir>/test/build/tear-down.ts',
  modulePathIgnorePatterns: ['<rootDir>/test/apps', '<rootDir>/dist', '<rootDir>/samples/dist'],
  // Many tests start a real server process, which takes a while on a busy machine.
  testTimeout: 30_000,
  // A worker that has compiled much takes a moment to end.
  workerGracefulExitTimeout: 5_000,
};
