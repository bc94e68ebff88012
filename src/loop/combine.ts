/**
 * What several verdicts come to. Whatever the policy, judges are heard only where the checks without a model would be
 * enough by themselves: a judge can say no, and never overrules. Pure.
 */
import type { CheckSpec, VerdictSpec } from "../spec.ts";

/**
 * How a check stands: `left` fails as the base does, and a person said that this does not count; `old` the same, and
 * nobody said so; `unsure` could not judge.
 */
export type Stand = "pass" | "left" | "unsure" | "old" | "flaky" | "red";

export interface Vote {
  check: CheckSpec;
  stand: Stand;
}

const DEFAULT_WEIGHT = 1;
/** Sums of weights are of decimal fractions. */
const ROUNDING = 1e-9;

/** Those whose verdicts decide. */
export const voters = (checks: readonly CheckSpec[], { combine }: Pick<VerdictSpec, "combine">): CheckSpec[] =>
  checks.filter(({ required }) => required || combine === "all");

export const isJudge = ({ kind }: Pick<CheckSpec, "kind">): boolean => kind === "judge";

/** Whether the change is accepted when the votes in `counts` are taken for a yes. */
export function accepted(votes: readonly Vote[], policy: VerdictSpec, counts: readonly Stand[]): boolean {
  const facts = votes.filter(({ check }) => !isJudge(check));
  return (facts.length === 0 || isEnough(facts, policy, counts)) && isEnough(votes, policy, counts);
}

function isEnough(votes: readonly Vote[], { combine, threshold }: VerdictSpec, counts: readonly Stand[]): boolean {
  const isYes = ({ stand }: Vote): boolean => counts.includes(stand);
  if (votes.length === 0) return false;
  switch (combine) {
    case "veto":
    case "all":
      return votes.every(isYes);
    case "weighted": {
      const sum = (list: readonly Vote[]): number =>
        list.reduce((total, { check }) => total + (check.weight ?? DEFAULT_WEIGHT), 0);
      return sum(votes.filter(isYes)) / sum(votes) >= threshold - ROUNDING;
    }
    case "quorum":
      return votes.filter(isYes).length * 2 > votes.length;
  }
}
