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
export function OnElicitation(): MethodDecoratorOf<OnElicitationMethod>;
export function OnElicitation(...none: unknown[]): MethodDecoratorOf<OnElicitationMethod> {
  return methodRole('onElicitation', '@OnElicitation()', none);
}

/**
 * Marks the method that has a model answer a server's message (MCP specification, Sampling). A `ToolError` that it throws
 * is told to the server, of any other error only that there was one.
 */
export function OnSampling(): MethodDecoratorOf<OnSamplingMethod>;
export function OnSampling(...none: unknown[]): MethodDecoratorOf<OnSamplingMethod> {
  return methodRole('onSampling', '@OnSampling()', none);
}

/** Marks the method that says in which folders a server may work (MCP specification, Roots); `file:` URLs only. */
export function ListRoots(): MethodDecoratorOf<ListRootsMethod>;
export function ListRoots(...none: unknown[]): MethodDecoratorOf<ListRootsMethod> {
  return methodRole('listRoots', '@ListRoots()', none);
}

/** Marks the method that is told how far a call is (MCP specification, Progress). */
export function OnProgress(): MethodDecoratorOf<OnProgressMethod>;
export function OnProgress(...none: unknown[]): MethodDecoratorOf<OnProgressMethod> {
  return methodRole('onProgress', '@OnProgress()', none);
}

/** Marks the method that is told what a server logs (MCP specification, Logging). */
export function OnLog(): MethodDecoratorOf<OnLogMethod>;
export function OnLog(...none: unknown[]): MethodDecoratorOf<OnLogMethod> {
  return methodRole('onLog', '@OnLog()', none);
}

/** Marks the method that is told that the server's tools have changed; those of the run stay as they are. */
export function OnToolsChanged(): MethodDecoratorOf<OnToolsChangedMethod>;
export function OnToolsChanged(...none: unknown[]): MethodDecoratorOf<OnToolsChangedMethod> {
  return methodRole('onToolsChanged', '@OnToolsChanged()', none);
}
