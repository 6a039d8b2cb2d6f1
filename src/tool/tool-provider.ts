import type { Tool } from './tool';
import type { ToolBinding } from './tool-binding';

/** A class that stands for tools: a toolset, a Tool class, or a class with a (static or injected) `tools` method. */
export type ToolEntryClass = abstract new (...args: never[]) => object;

/** What a registry can be given. */
export type ToolEntry = ToolEntryClass | Tool | ToolProvider | readonly ToolEntry[];

/** Anything that returns entries for a binding. */
export interface ToolProvider {
  tools(binding: ToolBinding): ToolEntry | PromiseLike<ToolEntry>;
}
