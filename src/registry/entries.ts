import type { InjectionToken } from 'tsyringe';
import { ConfigurationError } from '../errors';
import { ToolsetDiscovery } from '../mcp/discovery';
import { Tool, type ToolClass } from '../tool/tool';
import type { ToolBinding } from '../tool/tool-binding';
import type { ToolProvider } from '../tool/tool-provider';
import { isToolset } from '../toolset/definition';
import { candidateOf, type Candidate } from './candidate';

const DEEPEST_PROVIDERS = 16;

/** What the entries of one `register` call came to. */
export interface Expansion {
  readonly candidates: readonly Candidate[];
  /** Tool classes that are not offered: their `availableIf` said so, or failed. */
  readonly leftOut: readonly ToolClass[];
  readonly failures: readonly unknown[];
}

/** Expands entries into candidates, in their order. They are waited for in parallel, and all of them, also when some fail. */
export async function expand(entries: readonly unknown[], binding: ToolBinding, depth = 0): Promise<Expansion> {
  const expansions = await Promise.all(
    entries.map((entry) =>
      expandOne(entry, binding, depth).catch((error: unknown): Expansion => ({
        candidates: [],
        leftOut: isToolClass(entry) ? [entry] : [],
        failures: [error],
      })),
    ),
  );
  return {
    candidates: expansions.flatMap(({ candidates }) => candidates),
    leftOut: expansions.flatMap(({ leftOut }) => leftOut),
    failures: expansions.flatMap(({ failures }) => failures),
  };
}

async function expandOne(entry: unknown, binding: ToolBinding, depth: number): Promise<Expansion> {
  if (depth > DEEPEST_PROVIDERS) {
    throw new ConfigurationError(`ToolRegistry#register: providers are nested more than ${DEEPEST_PROVIDERS} deep.`);
  }
  if (Array.isArray(entry)) return expand(entry, binding, depth + 1);
  if (entry instanceof Tool) return one(candidateOf(entry));
  if (isToolset(entry)) {
    return expand(await binding.container.resolve(ToolsetDiscovery).discover(entry, binding), binding, depth + 1);
  }
  if (isToolClass(entry)) return expandToolClass(entry, binding);
  return expand([await providerOf(entry, binding).tools(binding)], binding, depth + 1);
}

async function expandToolClass(type: ToolClass, binding: ToolBinding): Promise<Expansion> {
  const candidate = candidateOf(type);
  const isAvailable = type.availableIf === undefined || (await type.availableIf(binding));
  return isAvailable ? one(candidate) : { candidates: [], leftOut: [type], failures: [] };
}

function one(candidate: Candidate): Expansion {
  return { candidates: [candidate], leftOut: [], failures: [] };
}

function isToolClass(entry: unknown): entry is ToolClass {
  return typeof entry === 'function' && entry.prototype instanceof Tool;
}

function providerOf(entry: unknown, binding: ToolBinding): ToolProvider {
  if (hasTools(entry)) return entry;
  if (typeof entry === 'function' && hasTools(entry.prototype)) {
    return binding.container.resolve(entry as unknown as InjectionToken<ToolProvider>);
  }
  throw new ConfigurationError(
    `ToolRegistry#register: ${describe(entry)} is no entry; expected a class marked @McpToolset(), a Tool class, a Tool instance, ` +
      'something with a tools(binding) method, or an array of these.',
  );
}

function describe(entry: unknown): string {
  if (typeof entry === 'function') return `the class ${entry.name || '(anonymous)'}`;
  return typeof entry === 'object' && entry !== null ? 'an object' : String(entry);
}

function hasTools(value: unknown): value is ToolProvider {
  const { tools } = Object(value) as { tools?: unknown };
  return typeof tools === 'function';
}
