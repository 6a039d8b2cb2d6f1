// First of all: tsyringe refuses to load before Reflect has metadata.
import '../../toolset/metadata';

export type { ExecutedCall, OnExecution } from '../presentation/executed';
export type { PresentationLimits, PresentationOptions } from '../presentation/limits';
export { openaiAgentsTools } from './tools';
export type { OpenAIAgentsToolOptions } from './tools';
