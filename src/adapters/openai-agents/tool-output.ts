import type { ToolOutputFileContent, ToolOutputImage, ToolOutputText } from '@openai/agents';
import {
  partsThatSayFailure,
  textOf,
  type PresentedPart,
  type PresentedResult,
} from '../presentation/presented-result';

/** What the SDK takes for the output of a function. */
export type AgentsToolOutput = string | (ToolOutputText | ToolOutputImage | ToolOutputFileContent)[];

/** A result as the SDK takes it: text alone as a string, else the SDK's structured outputs. */
export function agentsToolOutput(result: PresentedResult): AgentsToolOutput {
  const parts = partsThatSayFailure(result);
  return parts.every(({ kind }) => kind === 'text') ? textOf(parts) : parts.map(structured);
}

function structured(part: PresentedPart): ToolOutputText | ToolOutputImage | ToolOutputFileContent {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const { base64: data, mediaType, name: filename } = part;
  if (part.kind === 'image') return { type: 'image', image: { data, mediaType } };
  return { type: 'file', file: { data, mediaType, filename } };
}
