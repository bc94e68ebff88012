/** Where the work goes, said with switches: the same for a run and for one that goes on. */
import type { Flags } from "../../config/settings.ts";
import { Option, type Command } from "commander";
import { UsageError } from "../../errors.ts";

export interface PlaceOptions {
  /** false for --no-commit. */
  commit: boolean;
  currentBranch?: true;
  worktree?: string | true;
}

export function addPlaceOptions(command: Command, { hidden = false }: { hidden?: boolean } = {}): void {
  for (const [flags, about] of OPTIONS) {
    // It may stand higher up in the help already.
    if (command.options.some((one) => one.flags === flags)) continue;
    const option = new Option(flags, about).helpGroup("Git:");
    command.addOption(hidden ? option.hideHelp() : option);
  }
}

const OPTIONS = [
  ["--no-commit", "leave the work in the tree, commit nothing"],
  ["--current-branch", "commit on the branch you are on"],
  ["--worktree [NAME]", "work in a worktree of its own (--worktree=NAME)"],
] as const;

/** As the setting `commit`. */
export function placeFlags({ commit, currentBranch, worktree }: PlaceOptions): Flags {
  const refuse = (one: string, other: string, hint: string): never => {
    throw new UsageError(`${one} contradicts ${other}`, { hint });
  };
  if (!commit && currentBranch === true) refuse("--no-commit", "--current-branch", "give one of them");
  if (worktree !== undefined && (currentBranch === true || !commit))
    refuse("--worktree", commit ? "--current-branch" : "--no-commit", "a worktree has a branch of its own");
  if (!commit) return { commit: "none" };
  return currentBranch === true ? { commit: "current" } : {};
}
