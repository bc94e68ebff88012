/** More new files than a snapshot holds: the agent is told once, then it is a person's. Pure. */
import type { FactOf, Outcome } from "../events.ts";
import type { Now } from "./actions.ts";
import { exhausted } from "./budget.ts";
import { ending, type Draft } from "./draft.ts";
import type { LaneState, RunState } from "./state.ts";

const SNAPSHOT_REFUSED = "snapshot-refused";
/** A setting is frozen with the run. */
const TO_DO =
  "the files are untouched on disk: remove what is no work, or name it in .gitignore, and resume; a new run can have a larger max-snapshot-size or max-snapshot-files (pawl.yaml)";

const forPerson = (why: string): Outcome => ({
  is: "needs-human",
  rule: SNAPSHOT_REFUSED,
  reason: `${why}; ${TO_DO}`,
});

/** The agent was told and goes on; whoever reopens a run has been told himself. */
const isTold = (decision: FactOf<"decision-made"> | undefined): boolean =>
  decision?.rule === SNAPSHOT_REFUSED && decision.outcome === undefined;

/** Nothing of such a change is kept or judged; the agent has one more iteration to remove what is no work. */
export function oversize(state: RunState, lane: LaneState, { elapsed }: Now): Draft | undefined {
  const { change, ended, last, iteration } = lane;
  if (change?.refused === undefined) return undefined;
  const isLast =
    state.spec.recipe !== "run" ||
    state.stop !== undefined ||
    ended?.claim?.is === "abort" ||
    isTold(last?.decision) ||
    exhausted(state, { iteration, elapsed }) !== undefined;
  if (isLast) return ending(forPerson(change.refused));
  return {
    rule: SNAPSHOT_REFUSED,
    next: "continue",
    reason: `nothing of this iteration could be kept or judged: ${change.refused}. Your files are still there. Remove what you made that is no part of the work (downloads, build output, caches, dependencies), or name it in .gitignore; leave alone what was there before you. If the goal needs such files, say so in your final message: a person can allow it.`,
  };
}

/** A person's own files, found between two turns, are not the agent's to remove. Another driver looks for itself. */
export function oversizeBetween({ epoch }: RunState, { head, decision }: LaneState): Outcome | undefined {
  if (head?.refused === undefined || head.by !== "user" || head.epoch !== epoch || isTold(decision)) return undefined;
  return forPerson(head.refused);
}
