/**
 * What the state folder keeps of a run's work: its lanes' folders (index, verify tree, dependencies) and its refs in the
 * private repository. Removing them leaves the user's repository, its branches and worktrees as they are.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeAround } from "./dependencies.ts";
import { openGit } from "./git.ts";
import { laneLayout, repositoryLayout } from "./layout.ts";
import { withLock } from "./lock.ts";
import { trustedPath, type Environment } from "./user-git.ts";

/** Objects that no ref names are dropped when they are older: git's own limit, for what is just being written. */
const UNNAMED_SINCE = "2.weeks.ago";

export interface WorkPlace {
  stateDir: string;
  repository: string;
}

export function workFolders({ run, ...place }: WorkPlace & { run: string }): string[] {
  const { privateGit, dir, refs } = laneLayout({ ...place, run, lane: "main" });
  return [join(dir, ".."), join(privateGit, refs, "..")];
}

export async function forgetWork(place: WorkPlace & { run: string }): Promise<void> {
  const { root, lock } = repositoryLayout(place);
  if (!existsSync(root)) return;
  await withLock(lock, () => {
    for (const folder of workFolders(place)) removeAround(Buffer.from(folder), []);
  });
}

function namesIn(dir: string): string[] {
  return existsSync(dir) ? readdirSync(dir) : [];
}

/** Drops what no run of the repository needs. `isUnused`: the journal knows no run of it. Nobody may be driving one. */
export async function tidyWork(place: WorkPlace & { environment: Environment; isUnused: boolean }): Promise<void> {
  const { root, privateGit, lock, worktrees } = repositoryLayout(place);
  if (!existsSync(privateGit)) return;
  await withLock(lock, async () => {
    if (place.isUnused && namesIn(worktrees).length === 0 && namesIn(join(root, "runs")).length === 0)
      return removeAround(Buffer.from(privateGit), []);
    const home = mkdtempSync(join(tmpdir(), "pawl-tidy-"));
    try {
      const path = trustedPath(place.environment, place.repository);
      const git = openGit({ gitDir: privateGit, home, globalConfig: join(home, "gitconfig"), path });
      // What cannot be tidied is only larger than it need be.
      await git.run(["prune", `--expire=${UNNAMED_SINCE}`]);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
}
