/** Whether proposed code is to be run. Pure. */
import type { Body } from "./actions.ts";
import { presentCandidate } from "./solve-answer.ts";
import { attemptOf } from "./solve-state.ts";
import type { LaneState, RunState } from "./state.ts";

/** Code runs once: what has a result is not run again, by no driver. */
export function dueExecution(state: RunState, lane: LaneState): Body | undefined {
  const attempt = attemptOf(state, lane);
  if (state.stop === "now" || attempt?.code === undefined || attempt.executed !== undefined) return undefined;
  return { do: "execute", key: `execute/${attempt.turn}`, why: "code was proposed", turn: attempt.turn };
}

/** Checks judge answers: without one there is nothing for them to see. */
export const hasNothingToJudge = (state: RunState, lane: LaneState): boolean =>
  state.spec.recipe === "solve" && presentCandidate(state, lane) === undefined;
