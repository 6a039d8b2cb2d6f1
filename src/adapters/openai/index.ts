// First of all: tsyringe refuses to load before Reflect has metadata.
import '../../toolset/metadata';

export type { ExecutedCall, OnExecution } from '../presentation/executed';
export type { PresentationLimits, PresentationOptions } from '../presentation/limits';
export { openaiChatToolMessages } from './tool-messages';
export type { AssistantChatChoice, AssistantChatMessage, OpenAIChatOptions } from './tool-messages';
export { openaiToolOutputs } from './tool-outputs';
export type { ModelResponse } from './tool-outputs';
export { openaiChatTools, openaiTools } from './tools';
export type { OpenAIToolOptions } from './tools';
