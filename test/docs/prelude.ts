/** What the examples use without declaring it: the reader's own application. */
export const PRELUDE: Readonly<Record<string, string>> = {
  'README.md': `
    declare const app: {
      post(path: string, handler: (
        request: { user: { id: string }; body: { question: string } },
        response: {
          json(body: unknown): void;
          status(code: number): { end(): void };
          on(event: 'close', listener: () => void): void;
        },
      ) => Promise<void>): void;
    };
    declare const server: import('node:http').Server;
    declare function runAgent(question: string, tools: import('mcp-toolset').ToolRegistry): Promise<string>;
    declare const model: {
      respond(request: { tools: readonly { name: string; description: string; input_schema: object }[] }): Promise<{
        toolCalls: { id: string; name: string; input: unknown }[];
      }>;
      attach(mediaType: string, data: Uint8Array | undefined): Promise<void>;
    };
    declare class AccessTokens { forActor(actorId: string | undefined): Promise<string>; }
    declare class Invoices {
      find(actorId: string | undefined, id: string): Promise<{ total: number; pdf: Uint8Array } | undefined>;
    }
    declare const OrderStatusTool: ReturnType<typeof import('mcp-toolset').Tool.define>;
  `,
  'docs/adapters.md': `
    declare const files: {
      keep(artifact: import('mcp-toolset').AnyArtifact, of: { callId: string; tool: string }): Promise<void>;
    };
  `,
};
