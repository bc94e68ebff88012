/** The fact of a snapshot. */
import type { NewFact } from "../events.ts";
import type { Snapshot } from "../ports.ts";

export type Taken = Snapshot;

export function recorded(
  taken: Taken,
  about: { lane: string; iteration: number; n: number; by: "agent" | "user" },
): NewFact {
  const { commit, tree, judged, files, fileCount, added, removed, warnings, refused } = taken;
  const { lane, iteration, n, by } = about;
  return {
    type: "change-recorded",
    lane,
    iteration,
    snapshot: n,
    by,
    commit,
    tree,
    judged,
    files,
    fileCount,
    added,
    removed,
    warnings,
    ...(refused === undefined ? {} : { refused }),
  };
}
