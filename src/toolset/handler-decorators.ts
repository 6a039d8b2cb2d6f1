import type {
  ListRootsMethod,
  OnElicitationMethod,
  OnLogMethod,
  OnProgressMethod,
  OnSamplingMethod,
  OnToolsChangedMethod,
} from './handler-types';
import { methodRole, type MethodDecoratorOf } from './method-role';

/**
 * Marks the method that answers what a server asks of the user (MCP specification, Elicitation). A `ToolError` that it
 * throws is told to the server, of any other error only that there was one.
 */
export function OnElicitation(): MethodDecoratorOf<OnElicitationMethod> {
  return methodRole('onElicitation', '@OnElicitation()');
}

/**
 * Marks the method that has a model answer a server's message (MCP specification, Sampling). A `ToolError` that it throws
 * is told to the server, of any other error only that there was one.
 */
export function OnSampling(): MethodDecoratorOf<OnSamplingMethod> {
  return methodRole('onSampling', '@OnSampling()');
}

/** Marks the method that says in which folders a server may work (MCP specification, Roots); `file:` URLs only. */
export function ListRoots(): MethodDecoratorOf<ListRootsMethod> {
  return methodRole('listRoots', '@ListRoots()');
}

/** Marks the method that is told how far a call is (MCP specification, Progress). */
export function OnProgress(): MethodDecoratorOf<OnProgressMethod> {
  return methodRole('onProgress', '@OnProgress()');
}

/** Marks the method that is told what a server logs (MCP specification, Logging). */
export function OnLog(): MethodDecoratorOf<OnLogMethod> {
  return methodRole('onLog', '@OnLog()');
}

/** Marks the method that is told that the server's tools have changed; those of the run stay as they are. */
export function OnToolsChanged(): MethodDecoratorOf<OnToolsChangedMethod> {
  return methodRole('onToolsChanged', '@OnToolsChanged()');
}
