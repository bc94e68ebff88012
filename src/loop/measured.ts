/** What is measured of an iteration: the same numbers for the decision and for the fold of it. Pure. */
import type { Verdict } from "../events.ts";
import { isStill } from "./completion.ts";
import { blamed } from "./pre-existing.ts";
import type { Measured } from "./progress.ts";
import { verdictsOn, type LaneState, type RunState } from "./state.ts";
import { taskCounts, type TaskCounts } from "./tasks.ts";

/** What the caller has looked up already. */
interface Known {
  verdicts: readonly (Verdict | undefined)[];
  tasks: TaskCounts | undefined;
}

/** What counts of these verdicts, which are those of the checks of the spec in their order. */
export const counted = (state: RunState, verdicts: readonly (Verdict | undefined)[]): Verdict[] =>
  verdicts.flatMap((verdict, n) =>
    verdict === undefined ? [] : [blamed(state, state.spec.checks[n]?.name ?? "", verdict)],
  );

/** undefined while its change is not recorded. */
export function measured(state: RunState, lane: LaneState, known?: Known): Measured | undefined {
  const { change, iteration, ended } = lane;
  if (change === undefined) return undefined;
  const { verdicts, tasks } = known ?? { verdicts: verdictsOn(state, change.judged), tasks: taskCounts(state) };
  return {
    iteration,
    snapshot: change.snapshot,
    tree: change.judged,
    changed: change.changed,
    still: isStill(state, lane),
    isBase: change.judged === lane.baseTree,
    verdicts: counted(state, verdicts),
    baseline: [...state.baselines].map(([check, verdict]) => blamed(state, check, verdict)),
    tasks: tasks?.done ?? 0,
    text: ended?.text ?? "",
    turnMs: ended?.durationMs ?? 0,
    repeatedCalls: ended?.repeatedCalls ?? 0,
    shortTurnMs: state.spec.struggle.shortTurnMs,
  };
}
