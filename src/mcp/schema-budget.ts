import { ProtocolError } from '../errors';
import type { Limits } from '../settings';
import { quoted } from './quoted';

/** Counts the schemas of one catalog against its limits, before anything else looks into them. */
export class SchemaBudget {
  private nodes = 0;

  constructor(
    private readonly limits: Pick<Limits, 'maxSchemaDepth' | 'maxSchemaNodes'>,
    private readonly toolset: string,
  ) {}

  /**
   * Counts the objects and arrays of one schema, whose root is at depth 1. Never recurses, however deep the value is.
   * @throws ProtocolError that names the limit and the tool
   */
  spend(schema: unknown, tool: string): void {
    let level: object[] = [];
    this.count(schema, level, tool);
    for (let depth = 1; level.length > 0; depth += 1) {
      if (depth > this.limits.maxSchemaDepth) this.refuse('maxSchemaDepth', 'levels in one schema', tool);
      const next: object[] = [];
      for (const node of level) {
        // Every schema of every run passes here, so nothing is made of a node: no list of its keys or values.
        for (const key in node) this.count((node as Record<string, unknown>)[key], next, tool);
      }
      level = next;
    }
  }

  /** Puts an object or array on its level; never more than the limit leaves, also where one value is met often. */
  private count(value: unknown, level: object[], tool: string): void {
    if (typeof value !== 'object' || value === null) return;
    this.nodes += 1;
    if (this.nodes > this.limits.maxSchemaNodes) {
      this.refuse('maxSchemaNodes', 'objects and arrays in all schemas', tool);
    }
    level.push(value);
  }

  private refuse(limit: 'maxSchemaDepth' | 'maxSchemaNodes', what: string, tool: string): never {
    throw new ProtocolError(
      `Toolset ${this.toolset}, tool ${quoted(tool)}: more than ${this.limits[limit]} ${what} (limit ${limit}). ` +
        'Raise the limit if the server is trusted.',
      { toolset: this.toolset },
    );
  }
}
