/** What must not lie inside the workspace, where an agent writes. */
import { join, resolve } from "node:path";
import { UsageError } from "../../errors.ts";
import type { RepositoryFacts } from "../../workspace/inspect.ts";
import { isWithin } from "../../workspace/user-git.ts";

/** Else the agent's tree would contain its own judge. */
export function refuseStateInside({ topLevel }: RepositoryFacts, dir: string): void {
  if (!isWithin(resolve(dir), topLevel)) return;
  throw new UsageError(`pawl's state (${dir}) lies inside the repository`, {
    hint: "set PAWL_HOME to a directory outside of it",
  });
}

/** Only what is at `.git` is kept from an agent. */
export function refuseGitInside({ gitDir, commonDir, topLevel }: RepositoryFacts): void {
  const usual = join(topLevel, ".git");
  const inside = [gitDir, commonDir].find((dir) => isWithin(dir, topLevel) && !isWithin(dir, usual));
  if (inside === undefined) return;
  throw new UsageError(`git's own folder lies inside the workspace, where an agent could change it: ${inside}`, {
    hint: "move it to .git, or out of the workspace (git init --separate-git-dir=PATH); or work in a worktree: --worktree",
  });
}
