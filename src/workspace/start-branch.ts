/** The run's branch in the user's repository: made at the base, or at a first commit of what was uncommitted. */
import { UsageError } from "../errors.ts";
import { branchTip, pointHead, sendCommit, updateBranch } from "./handover.ts";
import type { Head } from "./inspect.ts";
import { commit, getRef, setRef, type Lane, type Prepared } from "./lane.ts";
import { NO_CAPS } from "./scan.ts";
import { takeTree } from "./take-tree.ts";
import { putIndex } from "./user-index.ts";

const DIRTY_MESSAGE = "Uncommitted changes from before the run";

/** What HEAD was when the run began; a crash later cannot be mistaken for another beginning. */
export interface Intent {
  head: Head;
  dirty: boolean;
  /** Wall clock, ms: repeating makes the same commit. */
  at: number;
}

/** Repeatable. No file of the workspace changes. */
export async function startBranch(lane: Lane, intent: Intent): Promise<Prepared> {
  const found = lane.prepared.base;
  const start = intent.dirty ? await commitDirty(lane, intent) : found;
  const { branch } = lane.prepared;
  // Without a branch the first commit is nowhere in the user's repository.
  const base = branch === null ? { ...found, tree: start.tree } : { ...found, ...start };
  const prepared = { ...lane.prepared, base };
  if (branch === null) return prepared;
  if (base.commit !== null) {
    if (intent.dirty) await sendCommit(lane, { commit: base.commit, have: found.commit });
    await makeBranch(lane, { branch, to: base.commit, from: lane.spec.commit === "current" ? found.commit : null });
    await setRef(lane, { name: "head", oid: base.commit });
  }
  if (lane.spec.commit === "branch") await pointHead(lane, branch);
  if (intent.dirty) await putIndex(lane.layout.index, placeOf(lane));
  return prepared;
}

async function commitDirty(lane: Lane, { at }: Intent): Promise<{ commit: string; tree: string }> {
  const { author, base } = lane.prepared;
  const parents = base.commit === null ? [] : [base.commit];
  if (getRef(lane, "user-index") === undefined) {
    const tree = await lane.view.need(["write-tree"]);
    const oid = await commit(lane, { tree, parents, author, at, message: "The user's index from before the run" });
    await setRef(lane, { name: "user-index", oid });
  }
  const { tree } = await takeTree(lane.view, { caps: NO_CAPS, knownTree: undefined });
  const oid = tree === base.tree ? base.commit : null;
  return { tree, commit: oid ?? (await commit(lane, { tree, parents, author, at, message: DIRTY_MESSAGE })) };
}

async function makeBranch(
  lane: Lane,
  { branch, to, from }: { branch: string; to: string; from: string | null },
): Promise<void> {
  const now = await branchTip(lane, branch);
  if (now === to) return;
  if (now === (from ?? undefined) && (await updateBranch(lane, { branch, to, from: from ?? undefined, why: "start" })))
    return;
  throw new UsageError(`the branch ${branch} exists already or moved meanwhile`, {
    hint: "Give another name with --branch, or start again.",
  });
}

export function placeOf(lane: Lane): { gitDir: string; workspace: string; run: string } {
  return { gitDir: lane.prepared.gitDir, workspace: lane.spec.path, run: lane.run };
}
