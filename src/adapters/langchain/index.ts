// First of all: tsyringe refuses to load before Reflect has metadata.
import '../../toolset/metadata';

export type { ExecutedCall, OnExecution } from '../presentation/executed';
export type { PresentationLimits } from '../presentation/limits';
export { langchainTools } from './tools';
export type { LangChainTool, LangChainToolOptions } from './tools';
export type { MediaForm } from './media-form';
