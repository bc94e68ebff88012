/** What is measured of an iteration: the same numbers for the decision and for the fold of it. Pure. */
import { blamed } from "./pre-existing.ts";
import type { Measured } from "./progress.ts";
import { verdictOf, type LaneState, type RunState } from "./state.ts";
import { taskCounts } from "./tasks.ts";

/** undefined while its change is not recorded. */
export function measured(state: RunState, { change, iteration, lastText, ended }: LaneState): Measured | undefined {
  if (change === undefined) return undefined;
  const verdicts = state.spec.checks.map(({ name }) => {
    const verdict = verdictOf(state, change.judged, name);
    return verdict === undefined ? undefined : blamed(state, name, verdict);
  });
  return {
    iteration,
    snapshot: change.snapshot,
    tree: change.judged,
    changed: change.changed,
    verdicts: verdicts.filter((verdict) => verdict !== undefined),
    tasks: taskCounts(state)?.done ?? 0,
    text: lastText,
    turnMs: ended?.durationMs ?? 0,
    repeatedCalls: ended?.repeatedCalls ?? 0,
    shortTurnMs: state.spec.struggle.shortTurnMs,
  };
}
