import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The temporary folder that the file tools may use. */
export class Workspace implements AsyncDisposable {
  /** Made by `create`. */
  constructor(readonly folder: string) {}

  static async create(): Promise<Workspace> {
    return new Workspace(await mkdtemp(join(await realpath(tmpdir()), 'quickstart-')));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
