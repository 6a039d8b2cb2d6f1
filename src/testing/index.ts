// First of all: tsyringe refuses to load before Reflect has metadata.
import '../toolset/metadata';

export { overrideClient } from './override-client';
export type { ClientSourceForTests } from './override-client';
export { createTestServer, TestServer } from './test-server';
export type { RecordedCall, TestCallContext, TestServerOptions, TestTool } from './test-server';
