/** When to step in, as a pure function of where the run is. Change this file to orchestrate differently. */
import type { IterationAnswer, IterationState } from "pawl";

/** Iterations in a row without a changed file. */
const HINT_AFTER = 2;
const UPGRADE_AFTER = 3;
const STOP_AFTER = 5;

export interface Policy {
  /** What helps when the agent is stuck: something you know and it does not. */
  hint: string;
  /** A stronger model, for when the hint did not help. */
  strongerModel: string;
}

export function stepIn(state: IterationState, { hint, strongerModel }: Policy): IterationAnswer {
  if (state.unchanged >= STOP_AFTER) return { stop: true };
  if (state.unchanged >= UPGRADE_AFTER && state.model !== strongerModel) {
    return {
      model: strongerModel,
      say: "Another model takes over here. Look at the files before you believe what was said.",
    };
  }
  if (state.unchanged === HINT_AFTER) return { say: hint };
  if (state.decision.rule === "claim-refused") {
    return { say: "You claimed to be done and were not. Run the checks yourself before you claim it again." };
  }
  return {};
}
