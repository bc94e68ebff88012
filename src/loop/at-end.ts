/**
 * What a run leaves that ends without `verified`: the best of what its iterations made. Work that is not known to be
 * worse, and whatever a person has changed since, is left alone. Pure but for the fold's state.
 */
import type { FactOf, Outcome } from "../events.ts";
import type { Action, Body } from "./actions.ts";
import { accepted } from "./combine.ts";
import { GREEN, votesOf } from "./completion.ts";
import { counted } from "./measured.ts";
import { failingSet, type Best } from "./progress.ts";
import { verdictsOn, type LaneState, type Recorded, type RunState } from "./state.ts";
import { taskCounts } from "./tasks.ts";

type Restore = Body<Extract<Action, { do: "restore" }>>;

/** The best state is put back before this end, if it is better than what is there. */
export function bestAtEnd(state: RunState, lane: LaneState, outcome: Outcome): Restore | undefined {
  const { bestWork: best, setAside: before } = lane.track;
  const { atEnd, recipe } = state.spec;
  // A claim is about what is there.
  if (recipe !== "run" || atEnd === "last" || outcome.is === "verified" || outcome.is === "claimed") return undefined;
  if (best === undefined || before?.iteration === lane.iteration || !isBehind(state, lane, best)) return undefined;
  if (lane.conflict !== undefined || hasTheirs(state, lane, best.snapshot)) return undefined;
  return {
    ...back(lane, best.snapshot),
    why: "the end",
    reason: `the run ended (${outcome.is}), and iteration ${best.iteration} was the best so far`,
    atEnd: true,
  };
}

/** What an end put aside before any check had looked at it is no worse for all we know: the run goes on with it. */
export function returnedToWork(state: RunState, lane: LaneState): Restore | undefined {
  const { setAside: aside } = lane.track;
  if (aside === undefined || aside.isJudged || aside.failed !== undefined || aside.iteration !== lane.iteration)
    return undefined;
  if (hasTheirs(state, lane, aside.snapshot)) return undefined;
  const reason = `the run goes on with the work of iteration ${aside.iteration}`;
  return { ...back(lane, aside.snapshot), why: "it was not judged", reason };
}

const back = ({ lane, iteration, salvages }: LaneState, to: number): Omit<Restore, "why" | "reason"> => ({
  do: "restore",
  key: `restore/${lane}/${iteration}/${salvages}`,
  to,
  iteration,
  salvage: `salvage/${salvages}`,
});

/** Of the fold: what was there when the end put the best state back. */
export function setAside(
  state: RunState,
  { track, head, iteration, stale }: LaneState,
  fact: FactOf<"change-restored">,
): void {
  track.setAside = {
    iteration,
    snapshot: head?.snapshot ?? 0,
    salvage: fact.salvage,
    isJudged: head !== undefined && wasTried(state, head),
    stale,
    ...(fact.failed === undefined ? {} : { failed: fact.failed }),
  };
}

/** What people changed after a snapshot, but for edits of the task list, which are made again in what is put back. */
export function hasTheirs({ tasks }: RunState, { theirs }: LaneState, snapshot: number): boolean {
  const again = new Set((tasks?.edits ?? []).map((edit) => edit.snapshot));
  return theirs.some((one) => one.snapshot > snapshot && (one.commits.length > 0 || !again.has(one.snapshot)));
}

/** Whether what is there is worse than the best, or was never put before a check. */
export function isBehind(state: RunState, { head }: LaneState, best: Best): boolean {
  if (head === undefined || head.refused !== undefined || head.judged === best.tree) return false;
  const votes = votesOf(state, head);
  if (votes.length > 0 && accepted(votes, state.spec.verdicts, GREEN)) return false;
  const tasks = taskCounts(state)?.done ?? 0;
  if (tasks !== best.tasks) return tasks < best.tasks;
  const failing = failingSet(counted(state, verdictsOn(state, head.judged)));
  return failing === undefined ? state.spec.checks.length > 0 && !wasTried(state, head) : failing.length > best.failing;
}

const wasTried = (state: RunState, { judged }: Recorded): boolean =>
  verdictsOn(state, judged).some((verdict) => verdict !== undefined);

/** The tree that the end is about: the best state where it was put back, else the last change. */
export function treeAtEnd({ change, head, track, iteration }: LaneState): string | undefined {
  const { bestWork: best, setAside: aside } = track;
  const isBack = aside !== undefined && aside.failed === undefined && aside.iteration === iteration;
  return (isBack ? best?.tree : undefined) ?? change?.judged ?? head?.judged;
}
