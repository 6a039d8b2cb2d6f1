import { ConfigurationError } from '../errors';
import { Artifact, type AnyArtifact } from './artifact';

/** A value together with the artifacts that belong to it: what a tool or `@MapResult` returns when it has both. */
export class ToolResult {
  readonly value: unknown;
  readonly artifacts: readonly AnyArtifact[];

  /** @throws ConfigurationError when `artifacts` holds something else than artifacts */
  constructor({
    value,
    artifacts = [],
  }: {
    readonly value: unknown;
    readonly artifacts?: readonly Artifact[] | undefined;
  }) {
    if (!Array.isArray(artifacts) || !artifacts.every((artifact) => artifact instanceof Artifact)) {
      throw new ConfigurationError('ToolResult: expected "artifacts" to be an array of Artifact.');
    }
    this.value = value;
    this.artifacts = Object.freeze([...(artifacts as readonly AnyArtifact[])]);
    Object.freeze(this);
  }

  /** `value` itself where it is a ToolResult, else a ToolResult without artifacts. */
  static of(value: unknown): ToolResult {
    return value instanceof ToolResult ? value : new ToolResult({ value });
  }
}
