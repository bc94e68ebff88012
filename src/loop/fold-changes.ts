/** What a recorded change of the tree means for its lane. Part of the fold. */
import type { FactOf, FileChange } from "../events.ts";
import { recordChanged } from "./failing.ts";
import { recordProtected } from "./protected.ts";
import type { LaneState, Recorded, RunState } from "./state.ts";
import { recordWork } from "./tasks.ts";

const MAX_KEPT_MARKS = 64;
const MAX_KEPT_PATHS = 40;
const MAX_KEPT_FLAGGED = 200;
const MAX_KEPT_THEIRS = 100;

/** Commits of people, or without any what they changed between turns, as of the last snapshot; after a restore as of the next. */
export function recordTheirs({ snapshots }: RunState, lane: LaneState, commits: readonly string[]): void {
  const head = lane.head?.snapshot ?? 0;
  lane.theirs.push({ snapshot: head < snapshots - 1 ? snapshots : head, commits: [...commits] });
  lane.theirs.splice(0, lane.theirs.length - MAX_KEPT_THEIRS);
}

export function takeTheirsBack(lane: LaneState, { to, salvage }: FactOf<"change-restored">): void {
  const gone = lane.theirs.filter(({ snapshot }) => snapshot > to);
  if (gone.length === 0) return;
  lane.theirs = lane.theirs.filter(({ snapshot }) => snapshot <= to);
  lane.takenBack.push({ to, salvage, commits: gone.flatMap(({ commits }) => commits) });
  lane.takenBack.splice(0, lane.takenBack.length - MAX_KEPT_THEIRS);
}

export function recordChange(state: RunState, lane: LaneState, fact: FactOf<"change-recorded">): void {
  if (fact.flagged !== undefined)
    state.flagged = [...new Set([...(state.flagged ?? []), ...fact.flagged])].slice(0, MAX_KEPT_FLAGGED);
  recordProtected(state, { fact, headEpoch: lane.head?.epoch });
  const { snapshot, judged } = lane.head ?? fact;
  const changed = lane.head !== undefined && lane.head.tree !== fact.tree;
  const recorded: Recorded = {
    snapshot: fact.snapshot,
    tree: fact.tree,
    judged: fact.judged,
    by: fact.by,
    iteration: fact.iteration,
    epoch: fact.epoch,
    elapsed: fact.elapsed,
    changed,
    before: { snapshot, judged },
    ...(fact.protected === undefined ? {} : { protected: fact.protected }),
    ...(fact.kept === undefined ? {} : { kept: fact.kept }),
    ...(fact.testsChanged === undefined ? {} : { testsChanged: fact.testsChanged }),
    ...(fact.baseTests === undefined ? {} : { baseTests: fact.baseTests }),
  };
  if (fact.refused !== undefined) recorded.refused = fact.refused;
  state.snapshots = Math.max(state.snapshots, fact.snapshot + 1);
  state.hooks.touched = false;
  if (lane.head === undefined) {
    lane.baseTree = fact.tree;
    lane.acceptedTree = fact.judged;
  }
  lane.head = recorded;
  const messageId = lane.session?.lastMessageId;
  if (lane.session !== undefined && typeof messageId === "string") {
    const { agent, ref } = lane.session;
    lane.marks.set(fact.snapshot, { agent, ref, messageId });
    const oldest = lane.marks.size > MAX_KEPT_MARKS ? lane.marks.keys().next().value : undefined;
    if (oldest !== undefined) lane.marks.delete(oldest);
  }
  if (fact.by === "user") {
    if (changed) recordTheirs(state, lane, []);
    owe(lane, fact.judged, `pawl: the user's change before iteration ${lane.iteration + 1}`);
    return;
  }
  const ofReview = lane.change !== undefined && lane.review?.ended !== undefined;
  lane.change = lane.change === undefined ? recorded : together(lane.change, recorded);
  if (ofReview && lane.review !== undefined) lane.review.mended = fact.fileCount;
  recordChanged(lane.failing, fact.iteration, fact.files);
  touch(lane, fact.files);
  recordWork(state, fact);
  const { record } = lane;
  record.files = ofReview ? Math.max(record.files, fact.fileCount) : fact.fileCount;
  record.added = (ofReview ? record.added : 0) + fact.added;
  record.removed = (ofReview ? record.removed : 0) + fact.removed;
}

/** The work of an iteration and what its reviewer made of it are one change. */
function together(work: Recorded, review: Recorded): Recorded {
  const undone = [...(work.protected ?? []), ...(review.protected ?? [])];
  const kept = review.kept ?? work.kept;
  return {
    ...review,
    before: work.before,
    changed: review.judged !== work.before.judged,
    ...(undone.length === 0 ? {} : { protected: undone }),
    ...(kept === undefined ? {} : { kept }),
  };
}

function touch(lane: LaneState, files: readonly FileChange[]): void {
  // Mostly it is the same file again.
  if (files.length === 0 || (files.length === 1 && files[0]?.path === lane.touched.at(-1))) return;
  const paths = new Set(files.map(({ path }) => path));
  lane.touched = [...lane.touched.filter((path) => !paths.has(path)), ...paths].slice(-MAX_KEPT_PATHS);
}

/** A refused snapshot is not handed over; neither is a tree the user already has. */
export function owe(lane: LaneState, tree: string, title: string): void {
  if (lane.head === undefined || lane.head.refused !== undefined || lane.acceptedTree === tree) return;
  lane.handOver = { tree, snapshot: lane.head.snapshot, iteration: lane.iteration, title };
}
