/** The run's branch in the user's repository: made at the base, or at a first commit of what was uncommitted. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../errors.ts";
import { branchTip, pointHead, sendCommit, updateBranch } from "./handover.ts";
import { indexFirst } from "./index-first.ts";
import { isOn, readHead, type Head } from "./inspect.ts";
import { commit, getRef, setRef, treeOf, type Lane, type Prepared } from "./lane.ts";
import { withLock } from "./lock.ts";
import { keptWords } from "./others-index.ts";
import { uncapped } from "./scan.ts";
import { takeTree } from "./take-tree.ts";

const DIRTY_MESSAGE = "Uncommitted changes from before the run";

/** What HEAD was when the run began; a crash later cannot be mistaken for another beginning. */
export interface Intent {
  head: Head;
  dirty: boolean;
  /** There was no branch of the run's name. */
  isNewBranch?: boolean;
  /** Wall clock, ms: repeating makes the same commit. */
  at: number;
}

/** Repeatable. No file of the workspace changes. */
export async function startBranch(lane: Lane, intent: Intent): Promise<Prepared> {
  const found = lane.prepared.base;
  const { warnings, ...start } = intent.dirty ? await commitDirty(lane, intent) : { ...found, warnings: [] };
  const { branch } = lane.prepared;
  // Without a branch the first commit is nowhere in the user's repository.
  const base = branch === null ? { ...found, tree: start.tree } : { ...found, ...start };
  const prepared = {
    ...lane.prepared,
    base,
    warnings: [...lane.prepared.warnings, ...warnings],
    ...(intent.isNewBranch === true ? { isOwnBranch: true } : {}),
  };
  if (branch === null) return prepared;
  if (base.commit !== null && intent.dirty) await sendCommit(lane, { commit: base.commit, have: found.commit });
  // A worktree's branch was made with it; so it is this one's own already, as the current one is.
  const isOwn = lane.spec.commit === "current" || found.branch === branch;
  const move = { branch, to: base.commit, from: isOwn ? found.commit : null };
  // Two runs that were promised the same name would undo each other's work, commit by commit.
  const said = await withLock(lane.layout.lock, async () => {
    if (lane.spec.commit === "branch") refuseElsewhere(lane, branch);
    if (intent.dirty) return await moveWithIndex(lane, { intent, move });
    await moveTo(lane, move);
    return [];
  });
  if (base.commit !== null) await setRef(lane, { name: "head", oid: base.commit });
  return { ...prepared, warnings: [...prepared.warnings, ...said] };
}

interface Move {
  branch: string;
  /** null where there is no commit yet. */
  to: string | null;
  /** Where the branch is before; null where there must be none. */
  from: string | null;
}

/** The branch, and HEAD to it. */
async function moveTo(lane: Lane, { branch, to, from }: Move): Promise<void> {
  if (to !== null) await makeBranch(lane, { branch, to, from });
  if (lane.spec.commit === "branch") await pointHead(lane, { branch });
}

/** What was uncommitted is in the first commit: the index is put as at every hand-over. Returns what is to be told. */
async function moveWithIndex(lane: Lane, { intent, move }: { intent: Intent; move: Move }): Promise<string[]> {
  const { branch, to, from } = move;
  await refuseTaken(lane, move);
  const keeping = { name: "index-start", at: intent.at };
  const index = await indexFirst(lane, {
    from: lane.layout.index,
    keeping,
    isStill: async () => {
      const tip = (await branchTip(lane, branch)) ?? null;
      return isWhereSeen(lane, { intent, branch }) && (tip === from || tip === to);
    },
  });
  if (index.is === "moved")
    throw new UsageError(`HEAD or ${branch} was moved while the run was prepared`, { hint: "Start again." });
  try {
    await moveTo(lane, move);
  } finally {
    index.letGo();
  }
  return [...index.said, ...(await keptWords(lane, keeping))];
}

/** As it was found, or as an earlier attempt has put it. */
function isWhereSeen(lane: Lane, { intent: { head }, branch }: { intent: Intent; branch: string }): boolean {
  const now = readHead(lane.prepared.gitDir);
  if (isOn(now, branch)) return true;
  if (head.is === "detached") return now !== undefined && "commit" in now && now.commit === head.commit;
  return isOn(now, head.branch);
}

async function commitDirty(lane: Lane, { at }: Intent): Promise<{ commit: string; tree: string; warnings: string[] }> {
  const { author, base } = lane.prepared;
  const parents = base.commit === null ? [] : [base.commit];
  if (getRef(lane, "user-index") === undefined) {
    const tree = await lane.view.need(["write-tree"]);
    const oid = await commit(lane, { tree, parents, author, at, message: "The user's index from before the run" });
    await setRef(lane, { name: "user-index", oid });
  }
  const before = getRef(lane, "user-files");
  if (before !== undefined) {
    // An earlier attempt was cut off: what was edited since then is the first change, not another beginning.
    const tree = await treeOf(lane, before);
    // What was edited meanwhile is not in the way: only the index is written.
    await lane.view.need(["read-tree", "-i", "-m", tree]);
    return { tree, commit: before, warnings: [] };
  }
  const { tree, warnings } = await takeTree(lane.view, { caps: uncapped(lane.spec), knownTree: undefined });
  const same = tree === base.tree ? base.commit : null;
  const oid = same ?? (await commit(lane, { tree, parents, author, at, message: DIRTY_MESSAGE }));
  await setRef(lane, { name: "user-files", oid });
  return { tree, commit: oid, warnings };
}

/** As git itself refuses it: a branch that is checked out in two places moves under the feet of one. */
function refuseElsewhere({ prepared }: Lane, branch: string): void {
  const linked = join(prepared.commonDir, "worktrees");
  const names = existsSync(linked) ? readdirSync(linked) : [];
  for (const gitDir of [prepared.commonDir, ...names.map((name) => join(linked, name))]) {
    const head = gitDir === prepared.gitDir ? undefined : readHead(gitDir);
    if (head === undefined || !("ref" in head) || head.ref !== `refs/heads/${branch}`) continue;
    throw new UsageError(`the branch ${branch} is checked out in another worktree (${gitDir})`, {
      hint: "Give another name with --branch, or start again; see `git worktree list`.",
    });
  }
}

async function makeBranch(lane: Lane, move: Move & { to: string }): Promise<void> {
  const { branch, to, from } = move;
  if ((await refuseTaken(lane, move)) === to) return;
  if (!(await updateBranch(lane, { branch, to, from: from ?? undefined, why: "start" }))) throw taken(branch);
}

/** UsageError when the branch is neither where it is to be moved from nor there already. Returns where it is. */
async function refuseTaken(lane: Lane, { branch, to, from }: Move): Promise<string | null> {
  const now = (await branchTip(lane, branch)) ?? null;
  if (now !== from && now !== to) throw taken(branch);
  return now;
}

const taken = (branch: string): UsageError =>
  new UsageError(`the branch ${branch} exists already or moved meanwhile`, {
    hint: "Give another name with --branch, or start again.",
  });
