// First of all: tsyringe refuses to load before Reflect has metadata.
import '../../toolset/metadata';

export type { MediaKind } from '../presentation/media-format';
export type { ExecutedCall, OnExecution } from '../presentation/executed';
export type { PresentationLimits, PresentationOptions } from '../presentation/limits';
export type { MediaPart } from '../presentation/presented-result';
export type { AiSdkToolOutput } from './model-output';
export { aiSdkTools } from './tools';
export type { AiSdkToolOptions } from './tools';
