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
    let level = this.counted([schema], tool);
    for (let depth = 1; level.length > 0; depth += 1) {
      if (depth > this.limits.maxSchemaDepth) this.refuse('maxSchemaDepth', 'levels in one schema', tool);
      level = level.flatMap((node) => this.counted(Object.values(node), tool));
    }
  }

  /** The objects and arrays among `values`; never more than the limit leaves, also where one value is met often. */
  private counted(values: readonly unknown[], tool: string): object[] {
    const containers = values.filter(isContainer);
    this.nodes += containers.length;
    if (this.nodes > this.limits.maxSchemaNodes) {
      this.refuse('maxSchemaNodes', 'objects and arrays in all schemas', tool);
    }
    return containers;
  }

  private refuse(limit: 'maxSchemaDepth' | 'maxSchemaNodes', what: string, tool: string): never {
    throw new ProtocolError(
      `Toolset ${this.toolset}, tool ${quoted(tool)}: more than ${this.limits[limit]} ${what} (limit ${limit}). ` +
        'Raise the limit if the server is trusted.',
      { toolset: this.toolset },
    );
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
