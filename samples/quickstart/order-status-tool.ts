import { injectable } from 'tsyringe';
import { Run, Tool, ToolError } from 'mcp-toolset';

/** Where a real application would ask its database. */
export class Orders {
  find(actorId: string | undefined, id: string) {
    return actorId === 'ada' && id === 'A-1001' ? { id, status: 'shipped', arrives: 'Friday' } : undefined;
  }
}

/** A local tool: it is made for each run, injects what it needs, and its input is checked before `call`. */
@injectable()
export class OrderStatusTool extends Tool {
  static override readonly toolName = 'order_status';
  static override readonly description = "The status of one of the user's own orders.";
  static override readonly inputSchema = {
    type: 'object',
    properties: { orderId: { type: 'string', pattern: '^A-\\d+$' } },
    required: ['orderId'],
    additionalProperties: false,
  };

  constructor(
    private readonly run: Run,
    private readonly orders: Orders,
  ) {
    super();
  }

  override call({ orderId }: { orderId: string }) {
    const order = this.orders.find(this.run.invocation.actorId, orderId);
    if (!order) throw new ToolError(`There is no order ${orderId}.`);
    return order;
  }
}
