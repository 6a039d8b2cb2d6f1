import type { ToolCall } from 'mcp-toolset';

/** The calls that a model could make. */
export const conversation: readonly { readonly title: string; readonly calls: readonly ToolCall[] }[] = [
  {
    title: 'Calls: text',
    calls: [
      { name: 'echo', input: { message: 'Hello, tools!' } },
      { name: 'add', input: { a: 19, b: 23 } },
    ],
  },
  {
    title: 'Calls: structured content, checked against the schema that the server declares',
    calls: [
      { name: 'weather', input: { location: 'Chicago' } },
      { name: 'weather', input: { location: 'New York' } },
    ],
  },
  {
    title: 'Calls: @MapResult makes plain text of { content: … } and hides where the folder is',
    calls: [
      { name: 'files_write_file', input: { path: 'notes.txt', content: 'Buy milk.\nCall Grace.' } },
      { name: 'files_read_text_file', input: { path: 'notes.txt' } },
      { name: 'files_list_directory', input: { path: '.' } },
      { name: 'files_search_files', input: { path: '.', pattern: '*.txt' } },
    ],
  },
  {
    title: 'Calls: an image becomes an artifact, and its base64 is not in the text',
    calls: [
      { name: 'logo', input: {} },
      { name: 'announcement', input: { messageType: 'success', includeImage: true } },
    ],
  },
  {
    title: "Calls: a local tool, which knows the run's user",
    calls: [{ name: 'order_status', input: { orderId: 'A-1001' } }],
  },
  {
    title: 'Calls that fail: something for the model to read, never an exception',
    calls: [
      { name: 'files_read_text_file', input: { path: '/etc/passwd' } }, // the server refuses
      { name: 'weather', input: { location: 'Atlantis' } }, // the server checks the arguments of its tools
      { name: 'order_status', input: { orderId: 'A-9' } }, // the local tool throws a ToolError
      { name: 'order_status', input: { orderId: '9', express: true } }, // the library checks those of local tools
      { name: 'delete_everything', input: {} },
      { name: 'get-env', input: {} }, // the server has it, @MapTool omitted it
    ],
  },
];
