import { CleanupError, ConfigurationError } from '../errors';
import { discoveriesSettled } from '../mcp/discovery';
import { closeTogether } from '../mcp/session-registry';
import { asError } from '../run/abort';
import { runScoped } from '../run/run-scope';
import { show, showOnly } from '../run/show-only';
import { settingsOf } from '../settings';
import { rejected, type ToolExecution } from '../tool/execution';
import type { Session } from '../mcp/session';
import type { Tool, ToolSpecification } from '../tool/tool';
import { ToolBinding } from '../tool/tool-binding';
import type { ToolEntry } from '../tool/tool-provider';
import type { Candidate } from './candidate';
import { expand } from './entries';
import { handled } from './handled';
import { Registration } from './registration';
import { SessionClaims } from './session-claims';

/** A call that a model makes. */
export interface ToolCall {
  /** The id that the model gave it. */
  readonly id?: string | undefined;
  readonly name: string;
  /** The arguments; null and undefined stand for none. */
  readonly input?: unknown;
}

/** The tools of one run: what an application registers, and hands to its agent. Every run has one to inject. */
export class ToolRegistry implements Iterable<Tool> {
  private readonly registrations = new Map<string, Registration>();
  /** Sessions of tools that are made when they are needed, and have to be open then. */
  private readonly sessions = new Set<Session>();
  private readonly registering = new Set<Promise<void>>();
  private closing: Promise<void> | undefined;

  /** What its tools may reach. */
  readonly binding: ToolBinding;
  /** The names of all tools, in the order of registration. */
  declare readonly names: readonly string[];

  /** A registry for a binding; with a run, the run closes it. */
  constructor(binding: ToolBinding) {
    this.binding = binding;
    this.showNames();
    showOnly(this, ['binding', 'names']);
    binding.run?.register(this);
  }

  /**
   * Adds the tools of the entries; toolsets are discovered in parallel. Either all of it is registered or nothing.
   * @throws ConfigurationError for an entry that is none, two tools of one name, or a closed registry; CancelledError for
   * a closed run; and what discovering throws. What was opened for the entries is closed then.
   */
  async register(...entries: ToolEntry[]): Promise<void> {
    this.checkOpen();
    const registering = this.registerAll(entries).finally(() => this.registering.delete(registering));
    this.registering.add(registering);
    await registering;
  }

  /** The tool of a name. */
  get(name: string): Tool | undefined {
    return this.registrations.get(name)?.tool;
  }

  /** Whether there is a tool of a name. */
  has(name: string): boolean {
    return this.registrations.has(name);
  }

  /** What a model is told about each tool. */
  get specifications(): readonly ToolSpecification[] {
    return Object.freeze([...this.registrations.values()].map(({ specification }) => specification));
  }

  *[Symbol.iterator](): IterableIterator<Tool> {
    for (const { tool } of [...this.registrations.values()]) yield tool;
  }

  /**
   * Carries out a call and tells how it went; an unknown name is an error execution too.
   * @throws CancelledError, DeadlineExceededError, CleanupError, or ConfigurationError for a closed registry
   */
  execute(call: ToolCall, options: { readonly signal?: AbortSignal | undefined } = {}): Promise<ToolExecution> {
    return handled(this.carryOut(call, options));
  }

  /**
   * Closes the tools that the registry made, not the instances that it was handed. Every call returns the same promise.
   * @throws CleanupError when some could not be closed
   */
  close(): Promise<void> {
    this.closing ??= this.closeTools();
    return this.closing;
  }

  private carryOut(call: ToolCall, options: { readonly signal?: AbortSignal | undefined }): Promise<ToolExecution> {
    try {
      const { id, name, input } = call;
      this.checkOpen();
      const registration = this.registrations.get(name);
      if (registration) return registration.execute(input, { callId: id, signal: options.signal });
      return Promise.resolve(
        rejected(`Unknown tool: ${typeof name === 'string' ? name : `expected a name, got ${typeof name}`}`),
      );
    } catch (error) {
      return Promise.reject(asError(error));
    }
  }

  private async closeTools(): Promise<void> {
    const { run } = this.binding;
    await Promise.allSettled([...this.registering, run && discoveriesSettled(run)]);
    const sessions = [...this.sessions].map((session) => ({ close: () => session.release(this) }));
    await closeTogether([...ownTools(this.registrations.values()), ...sessions], 'ToolRegistry');
  }

  private checkOpen(): void {
    this.binding.run?.check();
    if (this.closing) throw new ConfigurationError('This ToolRegistry is closed; use the registry of a new run.');
  }

  private async registerAll(entries: readonly ToolEntry[]): Promise<void> {
    const { binding } = this;
    const claims = new SessionClaims();
    const { candidates, failures } = await expand(entries, { binding, claims, depth: 0 });
    const made: Registration[] = [];
    try {
      if (failures.length > 0) throw this.firstOf(failures);
      this.checkOpen();
      this.checkNames(candidates);
      claims.makeTools();
      for (const candidate of candidates) {
        candidate.session?.hold(this);
        made.push(new Registration(candidate, binding));
      }
    } catch (error) {
      await this.undo(made, claims);
      throw error;
    }
    for (const registration of made) {
      const { name, session } = registration.candidate;
      this.registrations.set(name, registration);
      if (session) this.sessions.add(session);
    }
    this.showNames();
    await this.quietly(() => claims.settle(binding.run !== undefined));
  }

  /** A field and no getter, so that a registry that is printed says what it has. */
  private showNames(): void {
    show<ToolRegistry>(this, { names: Object.freeze([...this.registrations.keys()]) });
  }

  private firstOf(failures: readonly unknown[]): unknown {
    // A run that ends fails all its entries with one and the same error.
    const [first, ...others] = new Set(failures);
    const { logger } = settingsOf(this.binding.container);
    for (const other of others) logger.error('ToolRegistry#register: another entry failed too.', other);
    return first;
  }

  private checkNames(candidates: readonly Candidate[]): void {
    const taken = new Map([...this.registrations].map(([name, { candidate }]) => [name, candidate]));
    for (const candidate of candidates) {
      const other = taken.get(candidate.name);
      if (other) {
        throw new ConfigurationError(
          `ToolRegistry#register: two tools have the name "${candidate.name}": ${other.origin} and ${candidate.origin}. ` +
            adviceFor(other, candidate),
        );
      }
      taken.set(candidate.name, candidate);
    }
  }

  /** Closes what was made and opened for entries that are not registered. */
  private async undo(made: readonly Registration[], claims: SessionClaims): Promise<void> {
    await this.quietly(() => closeTogether(ownTools(made), 'ToolRegistry'));
    await this.quietly(() => claims.withdraw());
  }

  /** Closes something whose failure to close is not what the caller has to know. */
  private async quietly(close: () => Promise<void>): Promise<void> {
    try {
      await close();
    } catch (failure) {
      const { logger } = settingsOf(this.binding.container);
      logger.error(
        'ToolRegistry#register: what was opened could not be closed.',
        CleanupError.is(failure) ? failure.errors : failure,
      );
    }
  }
}

/** What to do about two tools of one name. */
function adviceFor(one: Candidate, other: Candidate): string {
  const isSame = one.source === other.source && one.origin === other.origin;
  return isSame
    ? 'They are one and the same, registered twice: register it once; the registry keeps what earlier calls registered.'
    : 'Rename one, with a prefix or @MapTool(), or leave one out.';
}

/** The tools that a registry made, and closes. */
function ownTools(registrations: Iterable<Registration>): Tool[] {
  return [...registrations].flatMap(({ ownTool }) => ownTool ?? []);
}

runScoped(ToolRegistry, (run) => new ToolRegistry(run.container.resolve(ToolBinding)));
