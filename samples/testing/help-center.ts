import 'reflect-metadata';
import { injectable } from 'tsyringe';
import { MapResult, McpToolset, ToolRegistry, type MapResultContext } from 'mcp-toolset';

@McpToolset({ connection: { url: 'https://mcp.example/rpc' }, tools: { prefix: 'help_' } })
export class HelpCenterTools {
  @MapResult()
  titles(value: unknown, { result }: MapResultContext) {
    if (result.isError) return value;
    return (value as { articles: { title: string }[] }).articles.map(({ title }) => title);
  }
}

@injectable()
export class SupportController {
  constructor(private readonly tools: ToolRegistry) {}

  async find(query: string) {
    await this.tools.register(HelpCenterTools);
    return this.tools.execute({ name: 'help_search', input: { query } });
  }
}
