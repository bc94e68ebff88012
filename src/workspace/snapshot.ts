/** Snapshots: the whole workspace as a commit under the lane's refs, nested repositories under refs of their own. */
import { crashWords, isMachineTrouble, TerminalError } from "../errors.ts";
import type { Snapshot, SnapshotAbout } from "../ports.ts";
import { committedBeside, ledElsewhere, ledToOtherWork } from "./elsewhere.ts";
import { guardIn, isLeftIn, withGuard, withLeft } from "./guard.ts";
import { judgeSnapshot, MAX_LISTED_PATHS } from "./judge-snapshot.ts";
import { commit, ensureWorkspace, getRef, keepRef, setRef, type Lane } from "./lane.ts";
import { snapshotNested } from "./nested.ts";
import { following } from "./ignored-before.ts";
import { followTracking } from "./others-index.ts";
import { NO_NUMBERS, treeNumbers, type Numbers } from "./numbers.ts";
import { capsOf } from "./scan.ts";
import { readCommit } from "./private-repository.ts";
import { reopened, type Reopened } from "./reopened.ts";
import { takeTree } from "./take-tree.ts";
import { watchLater } from "./watch-later.ts";
import { watchRefs } from "./watch-refs.ts";

/** A defect of pawl's own would be met by every attempt: such a snapshot is refused, so that the run can come to an end. */
export async function snapshot(lane: Lane, n: number, about: SnapshotAbout): Promise<Snapshot> {
  try {
    return await take(lane, n, about);
  } catch (error) {
    if (error instanceof TerminalError || isMachineTrouble(error) || about.parent === null) throw error;
    lane.memory.indexTree = undefined;
    const { oid, tree } = await keepParent(lane, n, { ...about, parent: await parentOf(lane, about.parent) });
    const why = `pawl broke while it took the snapshot (${crashWords(error)}); the files are untouched on disk, and a resumed run takes another one`;
    return { ...refused({ commit: oid, tree }, why), refused: why, flagged: watchLater(lane) };
  }
}

async function take(lane: Lane, n: number, about: SnapshotAbout): Promise<Snapshot> {
  ensureWorkspace(lane.spec.path);
  if (about.parent !== null) await refuseLed(lane, about.by);
  const caps = capsOf(lane.spec);
  const parent = await parentOf(lane, about.parent);
  const isAgents = about.parent !== null && about.by !== "user";
  const opened = isAgents ? await reopened(lane, { guard: parent.guard, n }) : undefined;
  const known = lane.memory.indexTree;
  lane.memory.indexTree = undefined;
  const [follow, lostRefs] = await Promise.all([followTracking(lane), watchRefs(lane)]);
  const taken = await takeTree(lane.view, {
    caps,
    against: parent.tree,
    knownTree: known,
    follow: following(lane, follow),
  });
  const parents = parent.commit === null ? [] : [parent.commit];
  const { at } = about;
  if (taken.scan.refused !== undefined) {
    lane.memory.indexTree = known;
    const { oid } = await keepParent(lane, n, { ...about, parent });
    const why = { ...refused({ commit: oid, tree: parent.tree }, taken.scan.refused), warnings: lostRefs };
    return { ...why, flagged: watchLater(lane) };
  }
  lane.memory.indexTree = taken.tree;
  const found = taken.numbers ?? (await numbersOf(lane, { from: parent.tree, to: taken.tree }));
  const nested = await snapshotNested(lane, { found: taken.scan.nested, name: `snap/${n}`, at, caps });
  // What the agent left there is no person's, whoever looks, or commits all there is.
  const by = about.by === "user" && !parent.isLeft ? "user" : "agent";
  const committed = by === "user" || parent.isLeft ? undefined : await committedBeside(lane);
  const { guard, tree, isLeft, said, warnings } = await judgeSnapshot(lane, {
    n,
    at,
    parents,
    by: about.parent === null && about.by === "user" ? "start" : by,
    from: parent.tree,
    guard: parent.guard,
    tree: taken.tree,
    committed,
    changes: found.changes,
    nested: taken.scan.nested,
  });
  const numbers = tree === taken.tree ? found : await numbersOf(lane, { from: parent.tree, to: tree });
  const guarded = withGuard(lane, { message: about.message, guard });
  const message = isLeft ? withLeft(guarded) : guarded;
  const oid = await commit(lane, { tree, parents, message, at });
  await recordRef(lane, { n, oid });
  remember(lane, { from: parent.tree, to: tree, numbers });
  const { changes, ...counts } = numbers;
  lane.memory.step = { from: parent.tree, to: tree, paths: changes.map(({ path }) => path) };
  const first = about.parent === null ? lane.prepared.warnings : [];
  return {
    commit: oid,
    tree,
    judged: tree,
    ...said,
    ...withReopened(said.protected, opened),
    ...counts,
    flagged: watchLater(lane, changes),
    warnings: [...first, ...lostRefs, ...(opened?.warnings ?? []), ...taken.warnings, ...nested, ...warnings],
  };
}

/** A refused snapshot has its number like any other: a run that is reopened goes on from it. */
async function keepParent(
  lane: Lane,
  n: number,
  { parent, message: title, at }: { parent: Parent; message: string; at: number },
): Promise<{ oid: string; tree: string }> {
  lane.memory.followedIndex = undefined;
  const message = withLeft(withGuard(lane, { message: title, guard: parent.guard }));
  const parents = parent.commit === null ? [] : [parent.commit];
  const oid = await commit(lane, { tree: parent.tree, parents, message, at });
  await recordRef(lane, { n, oid });
  return { oid, tree: parent.tree };
}

/** Named beside what is undone in the tree. */
function withReopened(undone: Snapshot["protected"] = [], opened: Reopened | undefined): Pick<Snapshot, "protected"> {
  const known = new Set(undone.map(({ path }) => path));
  const more = opened?.undone.filter(({ path }) => !known.has(path)) ?? [];
  return more.length === 0 ? {} : { protected: [...undone, ...more].slice(0, MAX_LISTED_PATHS) };
}

/** TerminalError when the files are those of other work. */
async function refuseLed(lane: Lane, by: SnapshotAbout["by"]): Promise<void> {
  // A fenced agent cannot have done it: they are not those that it worked on.
  const led = by === "user" ? await ledToOtherWork(lane) : lane.isApart ? await ledElsewhere(lane) : undefined;
  if (led !== undefined) throw new TerminalError(led.says, { hint: led.hint });
}

/** A snapshot that was taken but never became a fact is kept beside the one that replaces it. */
async function recordRef(lane: Lane, { n, oid }: { n: number; oid: string }): Promise<void> {
  const before = getRef(lane, `snap/${n}`);
  if (before !== undefined && before !== oid) await keepRef(lane, { name: `lost/snap-${n}`, oid: before });
  await setRef(lane, { name: `snap/${n}`, oid });
}

interface Parent {
  commit: string | null;
  tree: string;
  /** What protected files have to be. */
  guard: string;
  /** What the agent made of them may still be in the workspace. */
  isLeft: boolean;
}

async function parentOf(lane: Lane, parent: number | null): Promise<Parent> {
  const { base } = lane.prepared;
  if (parent === null) return { commit: base.commit, tree: base.tree, guard: base.tree, isLeft: false };
  const oid = getRef(lane, `snap/${parent}`);
  if (oid === undefined)
    throw new TerminalError(`snapshot ${parent} of run ${lane.run} is not in pawl's repository`, {
      hint: "Its state was removed or damaged; `pawl show` lists what is left.",
    });
  const { tree, message } = await readCommit(oid, lane.privateGit);
  return { commit: oid, tree, guard: guardIn(message) ?? base.tree, isLeft: isLeftIn(message) };
}

async function numbersOf(lane: Lane, { from, to }: { from: string; to: string }): Promise<Numbers> {
  return from === to ? NO_NUMBERS : await treeNumbers(lane.privateGit, { from, to });
}

/** Follows what has changed since the user's branch was last brought up to date. */
function remember(lane: Lane, { from, to, numbers }: { from: string; to: string; numbers: Numbers }): void {
  const pending = lane.memory.pending;
  if (pending === undefined) return;
  if (pending.tree !== from) {
    if (pending.tree !== to) lane.memory.pending = undefined;
    return;
  }
  for (const { path, blob } of numbers.changes) pending.changes.set(path, blob);
  pending.tree = to;
}

function refused({ commit, tree }: { commit: string; tree: string }, why: string): Snapshot {
  return {
    commit,
    tree,
    judged: tree,
    files: [],
    fileCount: 0,
    added: 0,
    removed: 0,
    flagged: [],
    warnings: [],
    refused: why,
  };
}
