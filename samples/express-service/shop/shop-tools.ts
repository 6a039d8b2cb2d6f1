import { setTimeout as delay } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { barChart } from './chart';
import type { Customer } from './orders';

const text = (...lines: string[]) => ({ type: 'text' as const, text: lines.join('\n') });

/** The shop's MCP server for one session of a customer; `onCancelled` hears of each call that the client gave up. */
export function shopFor({ name, orders }: Customer, onCancelled: () => void): McpServer {
  const server = new McpServer({ name: 'shop', version: '1.0.0' });

  server.registerTool('list_orders', { description: "The customer's orders, the newest first." }, () => ({
    content: [text(...orders.map(({ id, item, state }) => `${id}: ${item}, ${state}`))],
  }));

  server.registerTool(
    'order_details',
    { description: 'What is known of one order.', inputSchema: { order: z.string().describe('Number of the order') } },
    ({ order: id }) => {
      const order = orders.find((candidate) => candidate.id === id);
      if (!order) return { isError: true, content: [text(`${name} has no order ${id}.`)] };
      return {
        content: [text(`${order.id}: ${order.item}, ${order.euros} euros, month ${order.month}, ${order.state}`)],
      };
    },
  );

  server.registerTool('spending_chart', { description: 'A chart of what the customer spent in each month.' }, () => {
    const months = Array.from({ length: 6 }, (_, index) =>
      orders.filter(({ month }) => month === index + 1).reduce((sum, { euros }) => sum + euros, 0),
    );
    const image = { type: 'image' as const, data: barChart(months).toString('base64'), mimeType: 'image/png' };
    return { content: [text(`What ${name} spent from January to June, in euros: ${months.join(', ')}.`), image] };
  });

  server.registerTool('export', { description: 'All orders of the customer as a file.' }, () => {
    const rows = orders.map(({ id, item, euros }) => `${id};${item};${euros}`);
    const blob = Buffer.from(['order;item;euros', ...rows, ''].join('\n')).toString('base64');
    const resource = { uri: 'shop://export/orders.csv', mimeType: 'text/csv', blob };
    return { content: [text('The orders are in the file.'), { type: 'resource' as const, resource }] };
  });

  server.registerTool(
    'count_stock',
    {
      description: 'Counts the whole stock, which takes a while.',
      inputSchema: { seconds: z.number().min(0).max(60).default(20) },
    },
    async ({ seconds }, { signal }) => {
      try {
        await delay(seconds * 1_000, undefined, { signal });
      } catch (error) {
        onCancelled();
        throw error;
      }
      return { content: [text('There are 4,711 things in stock.')] };
    },
  );
  return server;
}
