import { writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { injectable } from 'tsyringe';
import { McpTool, ToolRegistry, type ToolCall } from 'mcp-toolset';
import { conversation } from './conversation';
import { OrderStatusTool } from './order-status-tool';
import { cyan, dim, green, heading, labelled, red, say, show, table } from './print';
import { RunLog } from './run-log';
import { signature } from './signature';
import { ArchiveTools, DemoTools, FileTools } from './toolsets';

/** An application's own class: the registry of its run is injected, and it hands the tools to an agent. */
@injectable()
export class QuickstartController {
  constructor(
    private readonly tools: ToolRegistry,
    private readonly log: RunLog,
  ) {}

  async answer(): Promise<void> {
    await this.tools.register(DemoTools, FileTools, ArchiveTools, OrderStatusTool);
    this.showTools();
    this.showCuration();
    this.showFailures();
    for (const { title, calls } of conversation) {
      heading(title);
      for (const call of calls) await this.execute(call);
    }
  }

  private showTools(): void {
    heading('What the model sees: names, descriptions (here the first sentence) and schemas');
    const width = Math.max(...this.tools.names.map((name) => name.length));
    for (const { name, description, inputSchema } of this.tools.specifications) {
      labelled(name, `${description.split(/\.(?:\s|$)/, 1)[0]}\n${dim(signature(inputSchema))}`, { width });
    }
    say('', '  One of them in full:', '');
    show(this.tools.get('order_status')?.specification);
  }

  private showCuration(): void {
    heading("What @MapTool and `tools` made of the servers' catalogs");
    const generated = [...this.tools].filter((tool) => tool instanceof McpTool);
    table(
      generated.map((tool) => [(tool.constructor as typeof McpTool).mcpTool.name, '→', tool.specification.name]),
      [String, dim, cyan],
    );
    say();
    labelled('omitted', this.log.omitted.join(', '), { paint: red });
  }

  private showFailures(): void {
    heading('An optional toolset whose server is down');
    for (const error of this.log.failures) labelled('@OnError', `${error.name}: ${error.message}`, { paint: red });
    labelled('the run', `goes on with the ${this.tools.names.length} tools of the others`, { paint: green });
  }

  private async execute(call: ToolCall): Promise<void> {
    const { status, content, artifacts } = await this.tools.execute(call);
    say();
    labelled('call', `${call.name} ${JSON.stringify(call.input)}`, { paint: dim });
    labelled(status, content, { paint: status === 'success' ? green : red });
    for (const { mediaType, data } of artifacts) {
      if (mediaType !== 'image/png' || !data) continue;
      const file = join(__dirname, `${call.name}.png`); // a name that the server chose would not be safe as a path
      await writeFile(file, data);
      const where = relative(process.cwd(), file);
      labelled('artifact', `${mediaType}, ${data.byteLength} bytes, written to ${where}`, { paint: green });
    }
  }
}
