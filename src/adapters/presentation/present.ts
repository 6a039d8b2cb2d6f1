import type { AnyArtifact } from '../../tool/artifact';
import type { ToolExecution } from '../../tool/execution';
import type { ToolBinding } from '../../tool/tool-binding';
import type { AnsweredCall } from './answer-calls';
import { ArtifactPresenter, type FetchedArtifact } from './artifact-presenter';
import { limitsOf, type PresentationLimits, type PresentationOptions } from './limits';
import { PartList, type PresentedResult } from './presented-result';
import type { ProviderMedia } from './provider-media';
import { cutText, shown } from './text';

/** For whom results are presented, and by which rules. */
export interface Presentation {
  readonly binding: ToolBinding;
  readonly media: ProviderMedia;
  readonly options: PresentationOptions;
}

/** What is left of the limits of one turn, for frameworks that ask for its results call by call. */
export class Turn {
  readonly limits: PresentationLimits;
  readonly presenter: ArtifactPresenter;
  private artifactsLeft: number;

  constructor({ binding, media, options }: Presentation) {
    this.limits = limitsOf(options);
    this.presenter = new ArtifactPresenter({ binding, media, limits: this.limits });
    this.artifactsLeft = this.limits.maxArtifacts;
  }

  /** Those of a result's artifacts that the turn still has room for. */
  take(artifacts: readonly AnyArtifact[]): readonly AnyArtifact[] {
    const taken = artifacts.slice(0, this.artifactsLeft);
    this.artifactsLeft -= taken.length;
    return taken;
  }
}

/**
 * Presents the results of one turn, in their order: text first, then each artifact as the provider takes it, or a note
 * that says why it is not shown. Whatever the results are, the parts are valid; the limits hold over all of them.
 * @throws CancelledError or DeadlineExceededError where run or turn end while artifacts are fetched
 */
export async function presentResults(
  answered: readonly AnsweredCall[],
  presentation: Presentation,
  turn = new Turn(presentation),
): Promise<readonly PresentedResult[]> {
  presentation.binding.run?.check();
  const { signal } = presentation.options;
  const fetching = answered.map(({ call: { name: tool }, execution: { artifacts, status } }) => {
    const request = { tool, isFailure: status === 'error', signal };
    return Promise.all(turn.take(artifacts).map((artifact) => turn.presenter.fetch(artifact, request)));
  });
  const fetched = await Promise.all(fetching);
  return answered.map(({ execution }, index) => result(execution, fetched[index] ?? [], turn));
}

/** Presents one result, for frameworks that ask call by call: as one of a turn, or as a turn of its own. */
export async function presentResult(
  answered: AnsweredCall,
  presentation: Presentation,
  turn?: Turn,
): Promise<PresentedResult> {
  const [presented] = await presentResults([answered], presentation, turn);
  return presented ?? { isError: answered.execution.status === 'error', parts: [] };
}

function result(
  execution: ToolExecution,
  fetched: readonly FetchedArtifact[],
  { presenter, limits }: Turn,
): PresentedResult {
  const parts = new PartList();
  const isError = execution.status === 'error';
  const { maxTextLength } = limits;
  if (!isBlank(execution.content)) {
    parts.addText(cutText(execution.content, maxTextLength, 'The application has the whole result.'));
  }
  let room = Math.max(0, maxTextLength - execution.content.length);
  for (const artifact of fetched) room -= presenter.add(artifact, parts, room);
  const more = execution.artifacts.length - fetched.length;
  if (more > 0) parts.addText(overflow(execution.artifacts.slice(-more), limits.maxArtifacts));
  if (parts.parts.length === 0)
    parts.addText(isError ? 'The tool failed and said nothing.' : 'The tool returned nothing.');
  return { isError, parts: parts.parts };
}

/** Whether a text has nothing to see; a provider that refuses blank text refuses this. */
function isBlank(text: string): boolean {
  return !/[^\s\p{Cc}\p{Cf}]/u.test(text);
}

function overflow(artifacts: readonly AnyArtifact[], maxArtifacts: number): string {
  const what = artifacts.length === 1 ? '1 more artifact' : `${shown(artifacts.length)} more artifacts`;
  return `[Not shown: ${what}: a turn shows at most ${shown(maxArtifacts)}. The application has them.]`;
}
