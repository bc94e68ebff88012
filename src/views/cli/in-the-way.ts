/**
 * What `pawl resume` would refuse, looked at before it is offered: files that are gone, or another branch than the run's.
 * Without git and the workspace's code, for `pawl status` starts fast.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isBetween } from "../../loop/iterate.ts";
import type { RunState } from "../../loop/state.ts";
import { branchOf, quoted } from "../summary.ts";
import type { InTheWay } from "./status-view.ts";

export function inTheWay(state: RunState): InTheWay | undefined {
  const { run, spec } = state;
  const { path, commit } = spec.workspace;
  if (!existsSync(path))
    return {
      command: `pawl restore ${run} --list`,
      why: "the workspace is gone; what is kept of its work",
      isFinal: true,
    };
  const branch = branchOf(state);
  // In the middle of an iteration an agent without a fence may have led it there.
  const mayBeElsewhere = !isBetween(state) && spec.fence.kind === "none";
  if (commit !== "branch" || branch === undefined || mayBeElsewhere) return undefined;
  const other = otherBranch(path, branch);
  if (other === undefined) return undefined;
  return {
    command: `git switch ${quoted(branch)}`,
    why: `the workspace is at ${other}, the run's work is on ${branch}`,
  };
}

/** What is checked out instead; undefined also where that cannot be told. */
function otherBranch(workspace: string, branch: string): string | undefined {
  try {
    const dotGit = join(workspace, ".git");
    const gitDir = statSync(dotGit).isDirectory()
      ? dotGit
      : resolve(workspace, readFileSync(dotGit, "utf8").replace("gitdir:", "").trim());
    const head = readFileSync(join(gitDir, "HEAD"), "utf8").trim();
    const [, name] = /^ref: refs\/heads\/(?!\.invalid$)(.+)$/.exec(head) ?? [];
    return name === branch ? undefined : name;
  } catch {
    return undefined;
  }
}
