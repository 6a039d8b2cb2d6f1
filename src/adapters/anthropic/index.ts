// First of all: tsyringe refuses to load before Reflect has metadata.
import '../../toolset/metadata';

export type { ExecutedCall, OnExecution } from '../presentation/executed';
export type { PresentationLimits, PresentationOptions } from '../presentation/limits';
export { anthropicToolResults } from './tool-results';
export type { AssistantMessage } from './tool-results';
export { anthropicTools } from './tools';
