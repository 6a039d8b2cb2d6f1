import { Lifecycle, scoped } from 'tsyringe';

/** What the toolsets noted. Scoped to a container, so every run has its own. */
@scoped(Lifecycle.ContainerScoped)
export class RunLog {
  readonly omitted: string[] = [];
  readonly failures: Error[] = [];
}
