/** Acceptance criteria for people: each with the checks bound to it and what they said; without one, nothing is known. */
import type { Verdict } from "../events.ts";
import type { Criterion } from "../spec.ts";

export interface CriterionView {
  /** From 1, as in the prompt. */
  n: number;
  text: string;
  /** `verified`: every check bound to it passed on the tree that was judged; `failed`: one of them failed. */
  is: "verified" | "failed" | "unverified";
  evidence: {
    check: string;
    /** `doubted`: a pass, with suspicions about how it came about. */
    is: Verdict["is"] | "not run" | "doubted";
    /** Blob of what it printed, or was told. */
    log: string | null;
  }[];
}

/** `verdictOf`: what a check said of the tree in question. */
export function criteriaOf(
  criteria: readonly Criterion[],
  verdictOf: (check: string) => Verdict | undefined,
): CriterionView[] {
  return criteria.map(({ text, checks }, at) => {
    const evidence = checks.map((check) => {
      const verdict = verdictOf(check);
      const log = verdict !== undefined && "evidence" in verdict ? verdict.evidence.log : null;
      return { check, is: verdictName(verdict), log };
    });
    return { n: at + 1, text, is: standing(evidence), evidence };
  });
}

function verdictName(verdict: Verdict | undefined): CriterionView["evidence"][number]["is"] {
  if (verdict === undefined) return "not run";
  return verdict.is === "pass" && verdict.evidence.suspicions.length > 0 ? "doubted" : verdict.is;
}

function standing(evidence: CriterionView["evidence"]): CriterionView["is"] {
  if (evidence.some(({ is }) => is === "fail")) return "failed";
  return evidence.length > 0 && evidence.every(({ is }) => is === "pass") ? "verified" : "unverified";
}

const SHORT_HASH_CHARS = 12;

/** `tests: pass, log 0f3c…; critic: fail`; nothing where no check is bound to it. */
export const evidenceWords = ({ evidence }: CriterionView): string =>
  evidence
    .map(({ check, is, log }) => `${check}: ${is}${log === null ? "" : `, log ${log.slice(0, SHORT_HASH_CHARS)}`}`)
    .join("; ");
