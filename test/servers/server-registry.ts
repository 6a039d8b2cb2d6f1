/** Anything that a test started and that must be closed again. */
export interface StartedServer {
  close(): Promise<void>;
}

/** Every server of the kit that is open in this test file. */
class ServerRegistry {
  readonly #open = new Set<StartedServer>();

  get size(): number {
    return this.#open.size;
  }

  /** Adds a server; the functions that start servers do it themselves. */
  add(server: StartedServer): void {
    this.#open.add(server);
  }

  /** Forgets a server that closed. */
  delete(server: StartedServer): void {
    this.#open.delete(server);
  }

  /** Closes every open server, all of them even when one fails, and then throws what failed. */
  async closeAll(): Promise<void> {
    const outcomes = await Promise.allSettled([...this.#open].map((server) => server.close()));
    this.#open.clear();
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join('\n'));
  }
}

/** The servers that this test file has started and not closed. */
export const servers = new ServerRegistry();

/** Closes, after each test of the file or describe block, what the test has started, also when it failed. */
export function closeServersAfterEach(): void {
  afterEach(() => servers.closeAll());
}

/** The same after the last test only, for servers that a `beforeAll` started. */
export function closeServersAfterAll(): void {
  afterAll(() => servers.closeAll());
}

/** Throws when handlers of a script failed, so that a mistake in a script fails its test instead of hiding in it. */
export function throwFaults(faults: readonly unknown[]): void {
  if (faults.length === 0) return;
  const messages = faults.map((fault) => (fault instanceof Error ? fault.message : String(fault)));
  throw new AggregateError(faults, `A handler of the scripted server threw: ${messages.join('; ')}`);
}
