import type { InjectionToken } from 'tsyringe';
import { ConfigurationError } from '../errors';
import { offerOf, ToolsetDiscovery } from '../mcp/discovery';
import { sessionOf } from '../mcp/tool-origin';
import { untilAborted } from '../run/abort';
import { endOf } from '../run/run';
import { Tool, type ToolClass } from '../tool/tool';
import type { ToolBinding } from '../tool/tool-binding';
import type { ToolProvider } from '../tool/tool-provider';
import { isToolset, type ToolsetClass } from '../toolset/definition';
import { candidateOf, OfferedCandidate, type Candidate } from './candidate';
import type { SessionClaims } from './session-claims';

const DEEPEST_PROVIDERS = 16;

/** What the entries of one `register` call came to. */
export interface Expansion {
  readonly candidates: readonly Candidate[];
  readonly failures: readonly unknown[];
}

/** What entries are expanded for. */
export interface ExpansionContext {
  readonly binding: ToolBinding;
  readonly claims: SessionClaims;
  /** How many providers and arrays the entries lie in. */
  readonly depth: number;
}

/** Expands entries into candidates, in their order. They are waited for in parallel, and all of them, also when some fail. */
export async function expand(entries: readonly unknown[], context: ExpansionContext): Promise<Expansion> {
  const expansions = await Promise.all(
    entries.map((entry) =>
      expandOne(entry, context).catch((error: unknown): Expansion => ({ candidates: [], failures: [error] })),
    ),
  );
  return {
    candidates: expansions.flatMap(({ candidates }) => candidates),
    failures: expansions.flatMap(({ failures }) => failures),
  };
}

async function expandOne(entry: unknown, context: ExpansionContext): Promise<Expansion> {
  const { binding, depth } = context;
  if (depth > DEEPEST_PROVIDERS) {
    throw new ConfigurationError(`ToolRegistry#register: providers are nested more than ${DEEPEST_PROVIDERS} deep.`);
  }
  const deeper = { ...context, depth: depth + 1 };
  if (Array.isArray(entry)) return expand(entry, deeper);
  if (entry instanceof Tool) return one(candidateOf(entry));
  if (isToolset(entry)) return expandToolset(entry, context);
  if (isToolClass(entry)) return expandToolClass(entry, context);
  return expand([await answer(() => providerOf(entry, binding).tools(binding), binding)], deeper);
}

/** What an application's function answers, unless the run ends first. */
function answer<T>(ask: () => T | PromiseLike<T>, { run }: ToolBinding): Promise<T> {
  return untilAborted((async () => ask())(), run && endOf(run));
}

async function expandToolset(toolset: ToolsetClass, context: ExpansionContext): Promise<Expansion> {
  const { binding, claims } = context;
  const discovery = binding.container.resolve(ToolsetDiscovery);
  const offer = await offerOf(discovery, toolset, binding);
  if (!offer) return expand(await discovery.discover(toolset, binding), context);
  const { tools, session } = offer;
  // Whoever has a class may have given it another name, or a condition.
  const classes = (): unknown[] => tools.map(({ toolClass }) => toolClass);
  if (tools.some(({ mayBeChanged }) => mayBeChanged)) return expand(classes(), context);
  if (tools.length > 0) claims.claim(session);
  return { candidates: tools.map((offered) => new OfferedCandidate(offered, session)), failures: [] };
}

async function expandToolClass(type: ToolClass, { binding, claims }: ExpansionContext): Promise<Expansion> {
  claims.claim(sessionOf(type, binding));
  const candidate = candidateOf(type);
  const isAvailable = type.availableIf === undefined || (await answer(() => type.availableIf?.(binding), binding));
  return isAvailable ? one(candidate) : { candidates: [], failures: [] };
}

function one(candidate: Candidate): Expansion {
  return { candidates: [candidate], failures: [] };
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
    `ToolRegistry#register: ${describe(entry)} is nothing that can be registered; expected a class marked @McpToolset(), a Tool class, a ` +
      'Tool instance, something with a tools(binding) method, or an array of these.',
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
