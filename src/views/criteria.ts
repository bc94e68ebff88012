/** Acceptance criteria for people: each with what is known about it, which without a check bound to it is nothing. */
import type { RunState } from "../loop/state.ts";

export interface CriterionView {
  /** From 1, as in the prompt. */
  n: number;
  text: string;
  is: "unverified";
}

export const criteriaOf = ({ spec }: Pick<RunState, "spec">): CriterionView[] =>
  spec.criteria.map(({ text }, at) => ({ n: at + 1, text, is: "unverified" }));
