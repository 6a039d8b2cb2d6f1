/** Tools on one page of the list, as servers with large catalogs send it. */
const PAGE_SIZE = 100;

const TOPICS = [
  'order',
  'invoice',
  'customer',
  'shipment',
  'ticket',
  'article',
  'contract',
  'device',
  'meeting',
  'budget',
];

/** Name of the tool at a place of the catalog. */
export function toolName(index) {
  return `${TOPICS[index % TOPICS.length]}_search_${index}`;
}

/** The pages of a catalog, each as the JSON of the `tools/list` result; cursors are the places of the pages. */
export function catalogPages({ tools, schemas }) {
  const pages = [];
  for (let start = 0; start < tools; start += PAGE_SIZE) {
    const end = Math.min(start + PAGE_SIZE, tools);
    const page = Array.from({ length: end - start }, (_, offset) => definition(start + offset, schemas));
    pages.push(JSON.stringify({ tools: page, ...(end < tools && { nextCursor: String(pages.length + 1) }) }));
  }
  return pages;
}

/** The result of a call, with the number in it that was sent; `size` adds that many characters of text. */
export function callResult({ name, arguments: { query, size = 0 } }, schemas) {
  const answer = {
    query,
    tool: name,
    total: 2,
    items: [item(1), item(2)],
    ...(size > 0 && { note: 'n'.repeat(size) }),
  };
  const content = [{ type: 'text', text: JSON.stringify(answer) }];
  return schemas ? { content, structuredContent: answer } : { content };
}

/** What the text of a right answer holds. */
export function expected(name, query) {
  return `"query":"${query}","tool":"${name}"`;
}

/** Schemas differ from tool to tool, as those of a real server do, so that no cache gets more than it would there. */
function definition(index, schemas) {
  const topic = TOPICS[index % TOPICS.length];
  return {
    name: toolName(index),
    title: `Search ${topic}s (${index})`,
    description: `Searches the ${topic}s of area ${index} by words and filters, the newest first. Use it before any ${topic} is changed, and never for archived ones.`,
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: `Words that the ${topic} must contain`, minLength: 1 },
        size: { type: 'integer', minimum: 0, description: 'Characters of the note' },
        status: { type: 'string', enum: ['open', 'closed', `area_${index}`] },
        range: {
          type: 'object',
          properties: { from: { type: 'string', format: 'date' }, to: { type: 'string', format: 'date' } },
        },
        tags: { type: 'array', items: { type: 'string' }, maxItems: 10 },
      },
      required: ['query'],
    },
    ...(schemas && { outputSchema: outputSchema(index) }),
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

function outputSchema(index) {
  return {
    type: 'object',
    properties: {
      query: { type: 'string' },
      tool: { type: 'string' },
      total: { type: 'integer', minimum: 0 },
      items: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: { type: 'integer' },
            title: { type: 'string', maxLength: 1_000 + index },
            score: { type: 'number' },
          },
          required: ['id', 'title'],
        },
      },
      note: { type: 'string' },
    },
    required: ['query', 'total', 'items'],
  };
}

function item(id) {
  return { id, title: `Title of number ${id}`, score: 1 / id };
}
