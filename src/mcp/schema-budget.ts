import { ProtocolError } from '../errors';
import type { Limits } from '../settings';
import { quoted } from './quoted';

/** Counts the schemas of one catalog against its limits, before anything else looks into them. */
export class SchemaBudget {
  private nodes = 0;
  /** The objects and arrays of the schema that is counted, each level behind the one above it; used again for the next. */
  private readonly queue: object[] = [];
  private queued = 0;

  constructor(
    private readonly limits: Pick<Limits, 'maxSchemaDepth' | 'maxSchemaNodes'>,
    private readonly toolset: string,
  ) {}

  /**
   * Counts the objects and arrays of one schema, whose root is at depth 1. Never recurses, however deep the value is.
   * @throws ProtocolError that names the limit and the tool
   */
  spend(schema: unknown, tool: string): void {
    this.queued = 0;
    this.count(schema, tool);
    let levelEnd = 0;
    for (let index = 0, depth = 0; index < this.queued; index += 1) {
      if (index === levelEnd) {
        levelEnd = this.queued;
        depth += 1;
        if (depth > this.limits.maxSchemaDepth) this.refuse('maxSchemaDepth', 'levels in one schema', tool);
      }
      this.countWithin(this.queue[index], tool);
    }
  }

  /** Every schema of every run passes here, so nothing is made of a node: no list of its keys or values. */
  private countWithin(node: object | undefined, tool: string): void {
    if (Array.isArray(node)) {
      for (const item of node) this.count(item, tool);
    } else {
      for (const key in node) this.count((node as Record<string, unknown>)[key], tool);
    }
  }

  /** Puts an object or array into the queue; never more than the limit leaves, also where one value is met often. */
  private count(value: unknown, tool: string): void {
    if (typeof value !== 'object' || value === null) return;
    this.nodes += 1;
    if (this.nodes > this.limits.maxSchemaNodes) {
      this.refuse('maxSchemaNodes', 'objects and arrays in all schemas', tool);
    }
    this.queue[this.queued] = value;
    this.queued += 1;
  }

  private refuse(limit: 'maxSchemaDepth' | 'maxSchemaNodes', what: string, tool: string): never {
    throw new ProtocolError(
      `Toolset ${this.toolset}, tool ${quoted(tool)}: more than ${this.limits[limit]} ${what} (limit ${limit}). ` +
        'Raise the limit if the server is trusted.',
      { toolset: this.toolset },
    );
  }
}
