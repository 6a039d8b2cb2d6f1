import { messageOf, ProtocolError } from '../errors';
import type { Logger } from '../settings';
import { sharedCheck, type SchemaCheck } from '../tool/input-schema';
import type { McpCallResult, McpToolDefinition } from '../toolset/callbacks';
import { quoted } from './quoted';

const LONGEST_REASON = 500;

/** A result that does not match: why, and what the model is shown. */
export interface Mismatch {
  readonly error: ProtocolError;
  readonly content: string;
}

/** Checks the results of one tool by its `outputSchema`, which is compiled when the first result comes. */
export class OutputSchema {
  private check: SchemaCheck | undefined;

  constructor(
    private readonly mcpTool: McpToolDefinition,
    private readonly toolset: string,
    private readonly logger: Logger,
  ) {}

  /**
   * Checks a result's `structuredContent` (MCP specification, Tools, output schema). Where it is missing or has another
   * shape, the error, and for the model also `text`, which is the text that came.
   */
  mismatch(result: McpCallResult, text: string): Mismatch | undefined {
    const { outputSchema } = this.mcpTool;
    if (outputSchema === undefined || outputSchema === null || result.isError === true) return undefined;
    this.check ??= this.compiled(outputSchema);
    const missing = result.structuredContent === undefined;
    const faults = missing ? ['structuredContent is missing'] : this.check(result.structuredContent);
    return faults.length > 0 && this.check !== unchecked ? this.mismatchOf(faults, text) : undefined;
  }

  private compiled(schema: object): SchemaCheck {
    try {
      if (Array.isArray(schema) || typeof schema !== 'object') throw new Error('it is no object');
      return sharedCheck(schema as Readonly<Record<string, unknown>>);
    } catch (cause) {
      this.logger.warn(
        `Toolset ${this.toolset}, tool ${quoted(this.mcpTool.name)}: its outputSchema cannot be used, so results are not ` +
          `checked by it: ${messageOf(cause).slice(0, LONGEST_REASON)}.`,
      );
      return unchecked;
    }
  }

  private mismatchOf(faults: readonly string[], text: string): Mismatch {
    const error = new ProtocolError(
      `Toolset ${this.toolset}, tool ${quoted(this.mcpTool.name)}: the result does not match the tool's outputSchema: ` +
        `${faults.join('; ')}.`,
      { toolset: this.toolset, outcome: 'completed' },
    );
    const said = text === '' ? '' : ` It said: ${text}`;
    const content = 'Tool failed (ProtocolError). The tool ran, but it answered in another shape than it declares.';
    return { error, content: content + said };
  }
}

const unchecked: SchemaCheck = () => [];
